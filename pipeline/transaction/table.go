package transaction

import (
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// Table describes the table of a kind of transactions. The tables of all kinds have the same shape. An id is a
// prefix and a ULID. The columns include account_id, mode, id, state, ref_id and created_at. One index has the first
// three of these columns. Each state but the most frequent has a partial index of the same three. (account_id, mode,
// ref_id) is unique. The table is also a work queue, with the columns of [workqueue.Table].
type Table[R any, P Record[R]] struct {
	Name    string // "recharge"
	Columns string // columns in the order in which Scan reads them
	Prefix  string // prefix of ids, in lower case: "txn_"
	Amount  string // column of the amount in paise; "" if the kind has no amounts
	// Unindexed is the most frequent state, which has no index of its own. Nearly every write would update such an
	// index, and the index would select most of the rows.
	Unindexed string
	// Scan reads a row of Columns.
	Scan func(sqlstore.Scanner) (R, error)
	// Missing is the error for an unknown id.
	Missing *schema.Problem
}

// Get returns a row by its id; false if there is none.
func (t *Table[R, P]) Get(q sqlstore.Querier, id string) (R, bool, error) {
	return t.One(q, "SELECT "+t.Columns+" FROM "+t.Name+" WHERE id = $1", id)
}

// One runs a query that selects t.Columns, and returns its row; false if there is none.
func (t *Table[R, P]) One(q sqlstore.Querier, query string, args ...any) (R, bool, error) {
	return sqlstore.One(q, t.Scan, query, args...)
}

// byIDs returns the rows with the given ids that match the SQL conditions, by id. It does not check the owner of a row.
// For an id without such a row, the map has no entry.
func (t *Table[R, P]) byIDs(q sqlstore.Querier, ids []string, conditions string) (map[string]R, error) {
	found := make(map[string]R, len(ids))
	many := t.byID(conditions)
	err := many.Each(len(ids), func(text string, from, to int) error {
		args := make([]any, 0, to-from)
		for _, id := range ids[from:to] {
			args = append(args, id)
		}
		return sqlstore.Each(q, t.into(found), text, args...)
	})
	return found, err
}

// The method `into` returns a function that adds a row to a map by its id.
func (t *Table[R, P]) into(found map[string]R) func(sqlstore.Scanner) error {
	return func(row sqlstore.Scanner) error {
		r, err := t.Scan(row)
		found[P(&r).Shared().ID] = r
		return err
	}
}

// ofRecords returns a query for the transactions that a batch has created from a range of its records.
// One statement suffices for all of them, whereas a list of ids would need several.
func (t *Table[R, P]) ofRecords() string {
	return "SELECT " + t.Columns + " FROM " + t.Name + " WHERE id IN (SELECT subject FROM batch_item WHERE batch_id = $1 AND place >= $2 AND place < $3)"
}

func (t *Table[R, P]) byID(conditions string) sqlstore.BatchStatement {
	return sqlstore.NewBatchStatement(0, "SELECT "+t.Columns+" FROM "+t.Name+" WHERE id IN (", "?", ")"+conditions)
}

// FirstDue returns the first due time of a new transaction's row: the end of the lease of its first call. Without a
// lease, the row is due at its creation. The result is zero for a final transaction, which needs no call.
func FirstDue(b *Base, lease workqueue.Lease) time.Time {
	switch {
	case !b.FinishedAt.IsZero():
		return time.Time{}
	case lease.Token != "":
		return lease.Until
	}
	return b.CreatedAt
}

// These are the bounds of the backoff between two calls for a transaction. The first pause is
// short, because a client waits, and most slow providers answer within a minute.
const (
	MinPause = 5 * time.Second
	MaxPause = 10 * time.Minute
)

// NextCall returns the time of the next call after a result that is not final. If the provider requested a pause
// (`retryAfter` is not 0), the call follows after that pause. Otherwise the backoff applies, and
// a call for an order that the provider does not know (`unknown`) is due at most `resendAfter` after its last sending.
func (b *Base) NextCall(retryAfter time.Duration, unknown bool, resendAfter time.Duration, now time.Time) time.Time {
	if retryAfter > 0 {
		return now.Add(retryAfter)
	}
	next := now.Add(sleep.Backoff(b.Tries, MinPause, MaxPause))
	if resendAt := b.SentAt.Add(resendAfter); unknown && resendAt.Before(next) {
		return resendAt
	}
	return next
}

// Postpone stores the columns that a call without a final result changes, and when the next call is due. It ends the
// lease. If the lease is lost or the state has changed, Postpone returns false and changes nothing.
func (t *Table[R, P]) Postpone(tx *sqlstore.Tx, r P, own workqueue.Lease, due time.Time) (bool, error) {
	b := r.Shared()
	n, err := tx.Exec("UPDATE "+t.Name+` SET tries = $4, due_at = $5, token = '', provider_ref = $6, sent = $7, sent_at = $8
		WHERE id = $1 AND token = $2 AND state = $3`,
		b.ID, own.Token, r.Status(), b.Tries, due.UnixMicro(), b.ProviderRef,
		sqlstore.BoolToInt(b.Sent), sqlstore.Micros(b.SentAt))
	return n == 1, err
}

// Renew extends a lease for another immediate call. If that call sends the order, Renew also stores the latest possible
// start of the call as SentAt. If the lease is lost, or l is nil, Renew returns false and changes nothing.
func (t *Table[R, P]) Renew(tx *sqlstore.Tx, r P, l *Link, own workqueue.Lease, sends bool, now time.Time) (until time.Time, renewed bool, err error) {
	if l == nil {
		return time.Time{}, false, nil
	}
	b, until := r.Shared(), l.LeaseEnd(now)
	sentAt := b.SentAt
	if sends {
		sentAt = l.Pool.LatestStart(workqueue.Lease{Until: until})
	}
	n, err := tx.Exec("UPDATE "+t.Name+" SET sent_at = $4, due_at = $5 WHERE id = $1 AND token = $2 AND state = $3",
		b.ID, own.Token, r.Status(), sqlstore.Micros(sentAt), until.UnixMicro())
	if err != nil || n == 0 {
		return time.Time{}, false, err
	}
	b.SentAt = sentAt
	return until, true, nil
}

// RecordFinal records the step that brought a transaction to a final state at the time `at`. `column` is the name of
// the column for this time. If the previous step has a later time, because the clock of its instance was ahead,
// RecordFinal stores the later time in `column`. It returns the stored time.
func (t *Table[R, P]) RecordFinal(
	tx *sqlstore.Tx, id string, act schema.StepAct, answer schema.StepAnswer, at time.Time, column string,
) (time.Time, error) {
	noted, err := RecordStep(tx, id, act, answer, at)
	if err == nil && noted.After(at) {
		_, err = tx.Exec("UPDATE "+t.Name+" SET "+column+" = $2 WHERE id = $1", id, noted.UnixMicro())
	}
	return noted, err
}
