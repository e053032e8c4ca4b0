// Package audit has the audit log: a hash chain for each account and world (live or sandbox), with a MAC of the
// chain's head. The package appends, lists, exports and verifies rows.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Entry is the description of a change in the audit log. It must contain no secrets, because clients
// can read entries and the audit log keeps them for ever.
type Entry struct {
	Account string
	World   schema.World
	Actor   string // id of the key; "command" for the command line
	Action  string // such as key.create; empty if nothing has changed and nothing is logged
	Subject string // id of the changed object
	Request string // request id
	Client  string // IP address
	Detail  map[string]any
}

// Append appends an entry to the hash chain of its account and world (live or sandbox), in the transaction of the
// change. The row is written at the end of the transaction, because the write locks the chain until the commit.
func Append(tx *sqlstore.Tx, now time.Time, e Entry) error {
	row := chainRow{Entry: e, mode: e.World.String(), at: now.UnixMicro(), detail: []byte("{}")}
	if e.Detail != nil {
		var err error
		if row.detail, err = json.Marshal(e.Detail); err != nil { // Marshal sorts the names
			return fmt.Errorf("appending %s to the audit log: %w", e.Action, err)
		}
	}
	all := sqlstore.AtEnd(tx, (*appended).write)
	*all = append(*all, row)
	return nil
}

// appended has the rows that the changes of a transaction have appended.
type appended []chainRow

// write writes the appended rows to the audit chain of each account.
func (a *appended) write(tx *sqlstore.Tx) error {
	chains := map[chainKey][]chainRow{}
	for _, row := range *a {
		key := chainKey{row.Account, row.mode}
		chains[key] = append(chains[key], row)
	}
	for _, key := range slices.SortedFunc(maps.Keys(chains), chainKey.compare) { // in the same order in all transactions, to avoid deadlocks
		if err := extend(tx, key, chains[key]); err != nil {
			return fmt.Errorf("appending to the audit log of %s: %w", key.account, err)
		}
	}
	return nil
}

var insertRows = sqlstore.NewBatchStatement(0, "INSERT INTO audit (account_id, mode, seq, at, actor, action, subject, request_id, client, detail, hash) VALUES ",
	"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "")

// extend writes rows at the end of an audit chain.
func extend(tx *sqlstore.Tx, key chainKey, rows []chainRow) error {
	// The UPSERT reserves the numbers of the rows, and locks the end of the chain on SQLite and on PostgreSQL.
	var last int64
	var hash, mac []byte
	err := tx.QueryRow(`
		INSERT INTO audit_head (account_id, mode, seq, hash) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, mode) DO UPDATE SET seq = audit_head.seq + $3
		RETURNING seq, hash, mac`, key.account, key.world, len(rows), firstHash[:]).Scan(&last, &hash, &mac)
	if err != nil {
		return err
	}
	return insertRows.Each(len(rows), func(text string, from, to int) error {
		var args []any
		for i := from; i < to; i++ {
			row := &rows[i]
			row.seq = last - int64(len(rows)-1-i)
			sum := row.sum(hash)
			if mac, err = nextMAC(tx, key, row.seq, sum[:], hash, mac); err != nil {
				return err
			}
			hash = sum[:]
			args = append(args, row.Account, row.mode, row.seq, row.at, row.Actor, row.Action, row.Subject, row.Request, row.Client, string(row.detail), hash)
		}
		if _, err := tx.Expect(int64(to-from), text, args...); err != nil || to < len(rows) {
			return err
		}
		_, err := tx.Expect(1, "UPDATE audit_head SET hash = $3, mac = $4 WHERE account_id = $1 AND mode = $2", key.account, key.world, hash, mac)
		return err
	})
}

// firstHash takes the place of the previous row's hash in the first row of a chain.
var firstHash [sha256.Size]byte

// rowForm is the prefix of the hashed bytes. A later version with other columns uses another prefix, so that
// its rows cannot have the same hash.
const rowForm = "vayu audit row, form 1"

// chainRow is a row of table audit without its hash.
type chainRow struct {
	Entry
	mode   string
	seq    int64
	at     int64 // microseconds
	detail []byte
}

// sum returns the SHA-256 of a row: of its columns and of `before`, the hash of the previous row. Each text has a
// length prefix, so that different rows yield different bytes.
func (r *chainRow) sum(before []byte) [sha256.Size]byte {
	h := sha256.New()
	for _, text := range [...]string{rowForm, r.Account, r.mode} {
		hashText(h, text)
	}
	var numbers [16]byte
	binary.BigEndian.PutUint64(numbers[:8], uint64(r.seq))
	binary.BigEndian.PutUint64(numbers[8:], uint64(r.at))
	h.Write(numbers[:])
	for _, text := range [...]string{r.Actor, r.Action, r.Subject, r.Request, r.Client, string(r.detail), string(before)} {
		hashText(h, text)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// hashText writes the length of a text and the text.
func hashText(h hash.Hash, text string) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(text)))
	h.Write(length[:])
	h.Write([]byte(text))
}

// wire returns the row of the audit log as the API returns it.
func (r *chainRow) wire(sum []byte) (schema.AuditRow, error) {
	out := schema.AuditRow{
		Seq: r.seq, At: schema.FormatExact(time.UnixMicro(r.at)),
		Actor: r.Actor, Action: r.Action, Subject: r.Subject, RequestID: r.Request, Client: r.Client,
		Hash: fmt.Sprintf("%x", sum),
	}
	d := json.NewDecoder(bytes.NewReader(r.detail))
	d.UseNumber() // preserves the digits of numbers
	if err := d.Decode(&out.Detail); err != nil {
		return out, fmt.Errorf("reading the detail of audit row %d: %w", r.seq, err)
	}
	return out, nil
}
