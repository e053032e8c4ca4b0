package audit

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// verifyPage is the number of rows of a chain that one statement reads. Reading takes half a second, far less
// than the statement timeout of ten seconds.
const verifyPage = 20_000

// Report is the result of verifying one chain of the audit log.
type Report struct {
	Account string
	World   schema.World
	// Rows is the number of valid rows before the first fault. Hash is that of the last valid row, in lower-case hex.
	Rows int64
	Hash string
	// Wrong is the number (seq) of the first invalid or missing row, and Reason describes its fault. If the chain is
	// valid, Reason is "".
	Wrong  int64
	Reason string
	// Unkeyed is the number of rows at the end of the chain that the MAC of the head does not cover. A
	// process without the store's key, or of an earlier version, wrote these rows.
	Unkeyed int64
}

// Verify verifies the chains of the audit log: one for each account and world (live or sandbox). The parameter
// `account` is the id of a single account, or "" for all accounts. Verify calls the function `report` for each chain
// that has rows or a fault. It may run beside a service. It fails if a read fails, the account is unknown, or the
// record of [KeyHeads] is invalid.
//
// A valid chain has rows numbered from 1 without a gap. Each row's hash covers its columns and the hash of the
// previous row. Table audit_head names the last row, the head. Each account with keys must have a chain.
//
// In a process with the store's key, Verify also checks the MAC of the head. An attacker with write access to the
// store, but without the key, therefore cannot remove the last rows and reset the head. An old head with its own
// MAC remains valid. Only a copy of a later hash outside the store reveals that an old head was put back.
func Verify(ctx context.Context, db *sqlstore.DB, account string, report func(Report)) error {
	return verifyPages(ctx, db, account, verifyPage, report)
}

// verifyPages does the same as [Verify], with pages of `size` rows. Tests use small pages.
func verifyPages(ctx context.Context, db *sqlstore.DB, account string, size int, report func(Report)) error {
	view := db.View(ctx)
	accounts, err := sqlstore.All(view, sqlstore.Scalar[string], "SELECT id FROM account WHERE $1 = '' OR id = $1 ORDER BY id", account)
	if err != nil {
		return fmt.Errorf("listing the accounts: %w", err)
	}
	if account != "" && len(accounts) == 0 {
		return fmt.Errorf("there is no account %q", account)
	}
	hasKey := db.Digest(keyedPurpose) != nil
	var since time.Time
	if hasKey {
		if since, err = keyedSince(db, view); err != nil {
			return err
		}
	}
	keyed := !since.IsZero() && time.Since(since) > keyedGrace
	for _, id := range accounts {
		for _, world := range schema.Worlds {
			c := chain{report: Report{Account: id, World: world}, last: firstHash[:], size: size, hasKey: hasKey, keyed: keyed, digests: db}
			if err := c.verify(view); err != nil {
				return fmt.Errorf("reading the audit log of %s: %w", id, err)
			}
			if c.report.Rows == 0 && c.report.Reason == "" {
				if err := c.missing(view); err != nil {
					return fmt.Errorf("reading the keys of %s: %w", id, err)
				}
			}
			c.report.Hash = hex.EncodeToString(c.last)
			if c.report.Rows > 0 || c.report.Reason != "" {
				report(c.report)
			}
		}
	}
	if hasKey && since.IsZero() {
		return anyKeyed(view)
	}
	return nil
}

// anyKeyed returns an error if a head (last row of a chain) has a MAC. Call it if the store does not record the time
// from which heads have a MAC. A head with a MAC then proves that the record was removed.
func anyKeyed(view sqlstore.View) error {
	var heads int64
	err := view.QueryRow("SELECT count(*) FROM audit_head WHERE mac IS NOT NULL").Scan(&heads)
	if err == nil && heads > 0 {
		err = errKeyedRemoved
	}
	return err
}

// chain is the state of the verification of one hash chain.
type chain struct {
	report Report
	last   []byte // hash of the last valid row
	size   int    // rows per page
	// hasKey means that this process has the key of MACs. The field `keyed` means that every head must have a MAC,
	// because the grace period has ended.
	hasKey, keyed bool
	digests       digester
}

func (c *chain) wrong(seq int64, reason string) {
	c.report.Wrong, c.report.Reason = seq, reason
}

// verify reads the chain in pages. Each page includes the head, read in the same snapshot. Therefore the last
// page and the head agree even while rows are appended.
func (c *chain) verify(view sqlstore.View) error {
	var head struct {
		seq       int64
		hash, mac []byte
	}
	err := view.QueryRow("SELECT seq, hash, mac FROM audit_head WHERE account_id = $1 AND mode = $2",
		c.report.Account, c.report.World.String()).Scan(&head.seq, &head.hash, &head.mac)
	if errors.Is(err, sql.ErrNoRows) {
		return c.headless(view)
	}
	if err != nil {
		return err
	}
	after := int64(math.MinInt64) // the first page also reads rows with an invalid number below 1
	for c.report.Reason == "" {
		rows := 0
		err := sqlstore.Each(view, func(row sqlstore.Scanner) error {
			var r storedRow
			if err := row.Scan(&head.seq, &head.hash, &head.mac, &r.seq, &r.at, &r.actor, &r.action, &r.subject, &r.request, &r.client, &r.detail, &r.hash); err != nil {
				return err
			}
			if r.seq.Valid && c.report.Reason == "" {
				rows++
				c.row(&r)
			}
			return nil
		}, `SELECT h.seq, h.hash, h.mac, a.seq, a.at, a.actor, a.action, a.subject, a.request_id, a.client, a.detail, a.hash
			FROM audit_head h LEFT JOIN audit a ON a.account_id = h.account_id AND a.mode = h.mode AND a.seq > $3
			WHERE h.account_id = $1 AND h.mode = $2 ORDER BY a.seq LIMIT $4`,
			c.report.Account, c.report.World.String(), after, c.size)
		if err != nil {
			return err
		}
		if rows < c.size {
			break
		}
		after = c.report.Rows
	}
	switch {
	case c.report.Reason != "":
	case c.report.Rows < head.seq:
		c.wrong(c.report.Rows+1, "the row is missing")
	case c.report.Rows > head.seq:
		c.wrong(head.seq+1, fmt.Sprintf("the head of the chain names row %d as the last", head.seq))
	case !bytes.Equal(c.last, head.hash):
		c.wrong(head.seq, "its hash does not match the head of the chain")
	case c.hasKey:
		return c.authentic(view, head.mac)
	}
	return nil
}

// headless verifies a chain without a row in table audit_head: the chain must be empty.
func (c *chain) headless(view sqlstore.View) error {
	var first sql.NullInt64
	err := view.QueryRow(`SELECT MIN(a.seq) FROM audit a WHERE a.account_id = $1 AND a.mode = $2
		AND NOT EXISTS (SELECT 1 FROM audit_head h WHERE h.account_id = $1 AND h.mode = $2)`,
		c.report.Account, c.report.World.String()).Scan(&first)
	if err == nil && first.Valid {
		c.wrong(first.Int64, "the chain has no head")
	}
	return err
}

// missing detects a chain that was removed completely. Each key has a row about its creation, so an account
// with keys has rows.
func (c *chain) missing(view sqlstore.View) error {
	var keys int64
	err := view.QueryRow("SELECT count(*) FROM api_key WHERE account_id = $1 AND mode = $2",
		c.report.Account, c.report.World.String()).Scan(&keys)
	if err == nil && keys > 0 {
		c.wrong(1, "the chain was removed, but the account has keys")
	}
	return err
}

// storedRow is a row of table audit that is not verified yet.
type storedRow struct {
	seq, at                                         sql.NullInt64
	actor, action, subject, request, client, detail sql.NullString
	hash                                            []byte
}

// row verifies the next row of an audit chain, and records the first fault.
func (c *chain) row(r *storedRow) {
	want := c.report.Rows + 1
	if r.seq.Int64 > want {
		c.wrong(want, "the row is missing")
		return
	}
	if r.seq.Int64 < want {
		c.wrong(r.seq.Int64, "a chain begins with row 1")
		return
	}
	row := chainRow{
		Entry: Entry{
			Account: c.report.Account, Actor: r.actor.String, Action: r.action.String,
			Subject: r.subject.String, Request: r.request.String, Client: r.client.String,
		},
		mode: c.report.World.String(), seq: r.seq.Int64, at: r.at.Int64, detail: []byte(r.detail.String),
	}
	sum := row.sum(c.last)
	if !bytes.Equal(sum[:], r.hash) {
		c.wrong(want, "its hash does not match its columns and the row before it")
		return
	}
	c.report.Rows = want
	c.last = r.hash
}
