package reconcile_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge/reconcile"
	"vayu/schema"
)

// day is the start of the Indian day of the tests, and noon is in it.
var (
	day  = time.Date(2026, 11, 19, 18, 30, 0, 0, time.UTC)
	noon = day.Add(12 * time.Hour)
)

// store has an account with recharges.
type store struct {
	testing.TB
	accesstest.Tenant

	db   *sqlstore.DB
	made int
}

func newStore(tb testing.TB, db *sqlstore.DB) *store {
	tb.Helper()
	return &store{TB: tb, Tenant: accesstest.AddTenant(tb, db, "shop"), db: db}
}

// row is a recharge to store. Empty fields have defaults: live world, a success of 199
// rupees by the provider agg at noon, with its id as the reference.
type row struct {
	mode, state, provider string
	attempt               string // behind the id, in the reference
	alarm                 string
	amount                schema.Paise
	at, refunded          time.Time
	resolved              time.Time
}

// add stores recharges and returns their ids.
func (s *store) add(rows ...row) []string {
	s.Helper()
	ids := make([]string, 0, len(rows))
	for chunk := range slices.Chunk(rows, 1000) {
		first := len(ids)
		for _, r := range chunk {
			s.made++
			ids = append(ids, idAt(or(r.at, noon), s.made))
		}
		err := s.db.Update(s.Context(), func(tx *sqlstore.Tx) error {
			return insertRows.Each(len(chunk), func(text string, from, to int) error {
				var args []any
				for i := from; i < to; i++ {
					args = append(args, s.values(ids[first+i], chunk[i])...)
				}
				_, err := tx.Exec(text, args...)
				return err
			})
		})
		if err != nil {
			s.Fatal(err)
		}
	}
	return ids
}

var insertRows = sqlstore.NewBatchStatement(0, `
	INSERT INTO recharge (id, ref_id, account_id, mode, state, amount, provider, reference, alarm, created_at, refunded_at, resolved_at,
		type, number, asked, operator, circle, detection, provider_ref, sent, tries, token, told_pending, error_code, error_message,
		refund_id, refund_reason, batch_id, batch_index) VALUES `,
	"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'prepaid', '9876543210', '', 'Airtel', 'Delhi', '', '', 1, 0, '', 0, '', '', '', '', '', 0)", "")

// values returns the arguments of the insert of a row.
func (s *store) values(id string, r row) []any {
	micros := func(at time.Time) any {
		if at.IsZero() {
			return nil
		}
		return at.UnixMicro()
	}
	return []any{
		id, id, s.ID, or(r.mode, "live"), or(r.state, "success"), int64(or(r.amount, 199_00)), or(r.provider, "agg"), id + r.attempt, r.alarm,
		or(r.at, noon).UnixMicro(), micros(r.refunded), micros(r.resolved),
	}
}

// idAt returns the nth id of a test, created at a time.
func idAt(at time.Time, n int) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at))
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return "txn_" + id.String()
}

func or[T comparable](value, usual T) T {
	if value == *new(T) {
		return usual
	}
	return value
}

// file returns an operator's file with some lines, "reference,status,amount,id".
func file(lines ...string) *strings.Reader {
	return strings.NewReader("client_ref,status,amount,txn_id\n" + strings.Join(lines, "\n") + "\n")
}

// line returns the line of a default recharge.
func line(reference, status string) string { return reference + "," + status + ",199.00,op-1" }

// shortText formats a difference: its kind, its line, and its recharge.
func shortText(d reconcile.Difference) string {
	text := fmt.Sprintf("%s at %d", d.Kind, d.At)
	if d.Line != nil {
		text += fmt.Sprintf(", there %s %s", d.Line.Status, d.Line.Amount)
	}
	if d.Ours != nil {
		text += fmt.Sprintf(", here %s %s", d.Ours.State, d.Ours.Amount)
	}
	if d.Settled != nil {
		text += fmt.Sprintf(", now %s %s%s, done %t", d.Settled.State, d.Settled.Alarm, d.Settled.Refusal, d.Settled.Done)
	}
	return strings.TrimSpace(text + " " + d.Text)
}

// compare runs a comparison and returns its reports.
func compare(tb testing.TB, c reconcile.Comparison, in *strings.Reader) ([]string, reconcile.Summary) {
	tb.Helper()
	var all []string
	sum, err := c.Run(tb.Context(), in, func(d reconcile.Difference) error {
		all = append(all, shortText(d))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all, sum
}
