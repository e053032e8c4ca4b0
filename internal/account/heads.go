package account

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"vayu/internal/state"
	"vayu/schema"
)

// Head is the last row of a chain of the audit log at some time. Its hash stands
// for all rows up to it: a copy outside the store shows that they were removed or
// written anew.
type Head struct {
	Account string    `json:"account"`
	World   string    `json:"world"` // live, sandbox
	Seq     int64     `json:"seq"`
	Hash    string    `json:"hash"` // SHA-256, lower-case hex
	At      time.Time `json:"at"`   // when it was copied
}

// chainKey names a chain.
type chainKey struct{ account, world string }

func (h *Head) chain() chainKey { return chainKey{h.Account, h.World} }

// HeadLog copies the heads of the audit log to a file, one JSON object a line.
// It is not safe for concurrent use.
type HeadLog struct {
	path   string
	copied map[chainKey]int64
}

// NewHeadLog returns a log that appends to a file, which it makes when it needs it.
func NewHeadLog(path string) *HeadLog {
	return &HeadLog{path: path, copied: map[chainKey]int64{}}
}

// Copy appends the heads that have moved since the last Copy, and returns how many
// they are and the SHA-256 of what it appended. After an error the next Copy appends
// them again.
func (l *HeadLog) Copy(ctx context.Context, db *state.DB, now time.Time) (heads int, sum string, err error) {
	var moved []Head
	err = state.Each(db.View(ctx), func(row state.Scanner) error {
		h := Head{At: now.UTC().Truncate(time.Second)}
		var hash []byte
		if err := row.Scan(&h.Account, &h.World, &h.Seq, &hash); err != nil {
			return err
		}
		if h.Hash = hex.EncodeToString(hash); l.copied[h.chain()] != h.Seq {
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
		l.copied[moved[i].chain()] = moved[i].Seq
	}
	hash := sha256.Sum256(text.Bytes())
	return len(moved), hex.EncodeToString(hash[:]), nil
}

func appendFile(path string, text []byte) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(text); err != nil {
		return err
	}
	return file.Sync()
}

// ReadHeads reads what [HeadLog.Copy] has written, and returns the last head of each
// chain: it proves all earlier ones. An error names the line.
func ReadHeads(r io.Reader) ([]Head, error) {
	last := map[chainKey]Head{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var h Head
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			return nil, fmt.Errorf("line %d is no head of the audit log: %w", n, err)
		}
		if _, err := hex.DecodeString(h.Hash); err != nil || h.Account == "" || h.Seq < 1 || len(h.Hash) != 2*sha256.Size {
			return nil, fmt.Errorf("line %d is no head of the audit log: it needs account, world, seq and hash", n)
		}
		if h.Seq >= last[h.chain()].Seq {
			last[h.chain()] = h
		}
	}
	heads := make([]Head, 0, len(last))
	for _, h := range last {
		heads = append(heads, h)
	}
	return heads, lines.Err()
}

// CheckHeads looks for the row of each head, and calls report for those whose row is
// missing or has another hash. [VerifyAudit] proves that the rows form a chain; both
// together prove that it is the chain that the heads were copied from.
func CheckHeads(ctx context.Context, db *state.DB, heads []Head, report func(AuditReport)) error {
	view := db.View(ctx)
	for i := range heads {
		h := &heads[i]
		var hash []byte
		err := view.QueryRow("SELECT hash FROM audit WHERE account_id = $1 AND mode = $2 AND seq = $3", h.Account, h.World, h.Seq).Scan(&hash)
		reason := ""
		switch {
		case errors.Is(err, sql.ErrNoRows):
			reason = "the row is missing, and its hash was copied at " + h.At.Format(time.RFC3339)
		case err != nil:
			return fmt.Errorf("reading row %d of the audit log of %s: %w", h.Seq, h.Account, err)
		case hex.EncodeToString(hash) != h.Hash:
			reason = "its hash is not the one that was copied at " + h.At.Format(time.RFC3339)
		}
		if reason != "" {
			report(AuditReport{Account: h.Account, World: schema.WorldOf(h.World), Wrong: h.Seq, Reason: reason})
		}
	}
	return nil
}
