package audit

import (
	"bytes"
	"context"
	"crypto/hmac"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vayu/internal/sqlstore"
)

const (
	headPurpose  = "audit_head.mac"
	keyedPurpose = "setting.value:" + keyedName
	// keyedName is the name of a row in the table setting. The row records since when the head (last row) of each audit
	// chain has a MAC. Its value is that time in microseconds since 1970, a dot, and a MAC of the number.
	keyedName = "audit_heads_keyed"
	// keyedGrace is the period after the recorded time in which heads without a MAC are accepted and get one.
	// During an upgrade, instances of an earlier version still write heads without a MAC.
	keyedGrace = 7 * 24 * time.Hour
)

// digester computes MACs with the store's key. It is a [sqlstore.DB] or a [sqlstore.Tx]. Digest returns nil in
// a process without the key.
type digester interface {
	Digest(purpose string, data ...[]byte) []byte
}

// headMAC returns the number of a chain's last row, followed by the MAC of that row. It returns nil in a
// process without the key.
func headMAC(of digester, chain chainKey, seq int64, hash []byte) []byte {
	number := binary.BigEndian.AppendUint64(nil, uint64(seq))
	mac := of.Digest(headPurpose, []byte(chain.account), []byte(chain.world), number, hash)
	if mac == nil {
		return nil
	}
	return append(number, mac...)
}

// authenticated returns the row number at the start of a MAC, or 0 if the MAC is too short to have a row number.
func authenticated(mac []byte) int64 {
	if len(mac) < 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(mac))
}

// nextMAC returns the MAC of a new head: the row with the number `seq` and the hash `hash`. The parameter `before` is
// the hash of the previous row, and `old` is the MAC of the previous head.
//
// If `old` is invalid, nextMAC returns `old`, so that [Verify] detects the fault even after more rows. It also returns
// `old` in a process without the key. The next process with the key then computes a MAC that covers all rows.
func nextMAC(tx *sqlstore.Tx, chain chainKey, seq int64, hash, before, old []byte) ([]byte, error) {
	if seq == 1 {
		return headMAC(tx, chain, seq, hash), nil
	}
	last := authenticated(old)
	if last < 1 || last >= seq {
		return old, nil
	}
	if last < seq-1 { // the rows after row last were written without the key
		err := tx.QueryRow("SELECT hash FROM audit WHERE account_id = $1 AND mode = $2 AND seq = $3", chain.account, chain.world, last).Scan(&before)
		if errors.Is(err, sql.ErrNoRows) {
			return old, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading row %d of the audit log: %w", last, err)
		}
	}
	if !hmac.Equal(headMAC(tx, chain, last, before), old) {
		return old, nil
	}
	if mac := headMAC(tx, chain, seq, hash); mac != nil {
		return mac, nil
	}
	return old, nil
}

// KeyHeads records the time from which heads of the audit log have a MAC. Until a grace period ends, it adds MACs to
// the heads that an earlier version wrote. A process with the key calls KeyHeads before its first change, and
// regularly afterwards. KeyHeads fails if the recorded time was changed, or was removed although heads have a MAC.
func KeyHeads(ctx context.Context, db *sqlstore.DB, now time.Time) error {
	since, err := keyedSince(db, db.View(ctx))
	if err != nil {
		return err
	}
	if !since.IsZero() && now.After(since.Add(keyedGrace)) {
		return nil
	}
	if since.IsZero() {
		text := strconv.FormatInt(now.UnixMicro(), 10)
		text += "." + hex.EncodeToString(db.Digest(keyedPurpose, []byte(text)))
		err = db.Update(ctx, func(tx *sqlstore.Tx) error {
			_, err := tx.Exec(`INSERT INTO setting (name, value) SELECT $1, $2
				WHERE NOT EXISTS (SELECT 1 FROM audit_head WHERE mac IS NOT NULL) ON CONFLICT (name) DO NOTHING`, keyedName, text)
			return err
		})
		if err == nil {
			since, err = keyedSince(db, db.View(ctx))
		}
		if err != nil || since.IsZero() {
			return errors.Join(err, errKeyedRemoved)
		}
	}
	return keyAll(ctx, db)
}

var errKeyedRemoved = fmt.Errorf("heads of the audit log have a MAC, and the setting %s, which records since when, was removed", keyedName)

// keyAll adds a MAC to every head (last row of a chain) that has none.
func keyAll(ctx context.Context, db *sqlstore.DB) error {
	type head struct {
		chainKey
		seq  int64
		hash []byte
	}
	all, err := sqlstore.All(db.View(ctx), func(row sqlstore.Scanner) (h head, err error) {
		err = row.Scan(&h.account, &h.world, &h.seq, &h.hash)
		return h, err
	}, "SELECT account_id, mode, seq, hash FROM audit_head WHERE mac IS NULL")
	if err != nil || len(all) == 0 {
		return err
	}
	err = db.Update(ctx, func(tx *sqlstore.Tx) error {
		for i := range all {
			h := &all[i]
			_, err := tx.Exec("UPDATE audit_head SET mac = $3 WHERE account_id = $1 AND mode = $2 AND mac IS NULL",
				h.account, h.world, headMAC(tx, h.chainKey, h.seq, h.hash))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("authenticating the heads of the audit log: %w", err)
	}
	return nil
}

// keyedSince reads the time from which heads have a MAC. It returns the zero time if there is no record. It fails if
// the MAC of the record does not match.
func keyedSince(of digester, q sqlstore.Querier) (time.Time, error) {
	var text string
	err := q.QueryRow("SELECT value FROM setting WHERE name = $1", keyedName).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("reading since when heads of the audit log have a MAC: %w", err)
	}
	number, mac, _ := strings.Cut(text, ".")
	micros, err := strconv.ParseInt(number, 10, 64)
	given, wrong := hex.DecodeString(mac)
	if err != nil || wrong != nil || !hmac.Equal(of.Digest(keyedPurpose, []byte(number)), given) {
		return time.Time{}, fmt.Errorf("the setting %s was changed: its MAC does not match this store's key", keyedName)
	}
	return time.UnixMicro(micros), nil
}

// authentic compares the MAC of the head with the chain, whose hashes are already verified, and records a mismatch in
// the report. It accepts a head without a MAC until the grace period ends. The error is that of a failed read.
func (c *chain) authentic(view sqlstore.View, mac []byte) error {
	last := authenticated(mac)
	switch {
	case last < 1 && (len(mac) > 0 || c.keyed):
		c.wrong(c.report.Rows, "the head of the chain has no MAC")
		return nil
	case last < 1:
		c.report.Unkeyed = c.report.Rows
		return nil
	case last > c.report.Rows:
		c.wrong(c.report.Rows+1, fmt.Sprintf("the row is missing, and the MAC of the head is of row %d", last))
		return nil
	}
	hash := c.last
	if last < c.report.Rows {
		err := view.QueryRow("SELECT hash FROM audit WHERE account_id = $1 AND mode = $2 AND seq = $3",
			c.report.Account, c.report.World.String(), last).Scan(&hash)
		if err != nil {
			return err
		}
	}
	if !bytes.Equal(headMAC(c.digests, chainKey{c.report.Account, c.report.World.String()}, last, hash), mac) {
		c.wrong(last, "its hash does not match the MAC of the head")
		return nil
	}
	c.report.Unkeyed = c.report.Rows - last
	return nil
}
