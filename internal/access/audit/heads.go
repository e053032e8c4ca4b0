package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"vayu/internal/sqlstore"
)

// Head is the last row of an audit chain at some time. A chain is the audit log of an account in one world
// (live or sandbox). The hash of its last row covers all rows. A copy of the hash outside the store reveals
// later changes and removals.
type Head struct {
	Account string    `json:"account"`
	World   string    `json:"world"` // live, sandbox
	Seq     int64     `json:"seq"`
	Hash    string    `json:"hash"` // SHA-256, lower-case hex
	At      time.Time `json:"at"`   // time of the copy
}

// chainKey identifies the audit chain of an account in a world (live or sandbox).
type chainKey struct{ account, world string }

func (k chainKey) compare(other chainKey) int {
	return cmp.Or(cmp.Compare(k.account, other.account), cmp.Compare(k.world, other.world))
}

func (h *Head) chain() chainKey { return chainKey{h.Account, h.World} }

// HeadLog copies the heads of the audit log to a file, one JSON object per line. It is not safe for concurrent use.
type HeadLog struct {
	path   string
	copied map[chainKey]string // hash of the last copied head
}

// NewHeadLog returns a log that appends to a file; Copy creates the file.
func NewHeadLog(path string) *HeadLog {
	return &HeadLog{path: path, copied: map[chainKey]string{}}
}

// Copy appends to the file each head whose hash has changed since its last copy; for a new HeadLog, all heads. It
// returns their number and the SHA-256 of the appended text. After an error, the next Copy appends these heads again.
func (l *HeadLog) Copy(ctx context.Context, db *sqlstore.DB, now time.Time) (heads int, sum string, err error) {
	var moved []Head
	err = sqlstore.Each(db.View(ctx), func(row sqlstore.Scanner) error {
		h := Head{At: now.UTC().Truncate(time.Second)}
		var hash []byte
		if err := row.Scan(&h.Account, &h.World, &h.Seq, &hash); err != nil {
			return err
		}
		if h.Hash = hex.EncodeToString(hash); l.copied[h.chain()] != h.Hash {
			moved = append(moved, h)
		}
		return nil
	}, "SELECT account_id, mode, seq, hash FROM audit_head ORDER BY account_id, mode")
	if err != nil {
		return 0, "", fmt.Errorf("reading the heads of the audit log: %w", err)
	}
	if len(moved) == 0 {
		return 0, "", nil
	}
	var text bytes.Buffer
	for i := range moved {
		line, err := json.Marshal(&moved[i])
		if err != nil {
			return 0, "", fmt.Errorf("writing a head of the audit log: %w", err)
		}
		text.Write(append(line, '\n'))
	}
	if err := appendFile(l.path, text.Bytes()); err != nil {
		return 0, "", fmt.Errorf("copying the heads of the audit log: %w", err)
	}
	for i := range moved {
		l.copied[moved[i].chain()] = moved[i].Hash
	}
	hash := sha256.Sum256(text.Bytes())
	return len(moved), hex.EncodeToString(hash[:]), nil
}

// appendFile appends lines to a file. If an interrupted write left an incomplete line, appendFile starts a new
// line. If the write fails, appendFile truncates the file to its earlier size.
func appendFile(path string, text []byte) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if last := make([]byte, 1); end > 0 {
		if _, err := file.ReadAt(last, end-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = append([]byte{'\n'}, text...)
		}
	}
	if _, err := file.Write(text); err != nil {
		return errors.Join(err, file.Truncate(end))
	}
	return file.Sync()
}

// Heads reads the output of [HeadLog.Copy]. An invalid line yields an error that names the line, and the
// sequence continues with the next line. The sequence ends after an error of the reader.
func Heads(r io.Reader) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		lines := bufio.NewScanner(r)
		for n := 1; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			var h Head
			err := json.Unmarshal(lines.Bytes(), &h)
			if err == nil && (h.Account == "" || h.Seq < 1 || len(h.Hash) != 2*sha256.Size) {
				err = errors.New("account, world, seq or hash is missing")
			}
			if err == nil {
				_, err = hex.DecodeString(h.Hash)
			}
			if err != nil {
				err = fmt.Errorf("line %d is not a head of the audit log: %w", n, err)
			}
			if !yield(h, err) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Head{}, err)
		}
	}
}

// Check compares a copied head with its row in the store. It returns the difference, or "" if the row has the copied
// hash. An attacker could replace a chain by another valid one, which [Verify] accepts. The heads that are copied after
// the attack belong to the forged chain, so only earlier copies reveal it. Therefore call Check for every copied head.
func (h *Head) Check(ctx context.Context, db *sqlstore.DB) (reason string, err error) {
	var hash []byte
	err = db.View(ctx).QueryRow("SELECT hash FROM audit WHERE account_id = $1 AND mode = $2 AND seq = $3", h.Account, h.World, h.Seq).Scan(&hash)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "the row is missing, and its hash was copied at " + h.At.Format(time.RFC3339), nil
	case err != nil:
		return "", fmt.Errorf("reading row %d of the audit log of %s: %w", h.Seq, h.Account, err)
	case hex.EncodeToString(hash) != h.Hash:
		return "its hash differs from the one copied at " + h.At.Format(time.RFC3339), nil
	}
	return "", nil
}
