package transaction

import (
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// Bounds of the backoff between two calls for a transaction. The first pause is short, because
// a client waits, and most slow providers answer within a minute.
const (
	MinPause = 5 * time.Second
	MaxPause = 10 * time.Minute
)

// NextCall returns the time of the next call after a result that is not final. A pause that
// the provider requested, retryAfter, takes precedence; 0 for none. Without such a pause the
// backoff applies. If the provider has no record of the order (unknown), the next call is then
// no later than resendAfter after the last sending.
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

// Postpone stores the columns that a call without a final result changes, and when the next
// call is due. It ends the lease. If the lease is lost or the state has changed, Postpone
// returns false and changes nothing.
func (t *Table[R, P]) Postpone(tx *sqlstore.Tx, r P, own workqueue.Lease, due time.Time) (bool, error) {
	b := r.Shared()
	n, err := tx.Exec("UPDATE "+t.Name+` SET tries = $4, due_at = $5, token = '', provider_ref = $6, sent = $7, sent_at = $8
		WHERE id = $1 AND token = $2 AND state = $3`,
		b.ID, own.Token, r.Status(), b.Tries, due.UnixMicro(), b.ProviderRef,
		sqlstore.BoolToInt(b.Sent), sqlstore.Micros(b.SentAt))
	return n == 1, err
}

// Renew extends a lease for another immediate call. If that call sends the order, Renew also
// stores the latest possible start of the call as SentAt. Without the lease, or without a pool,
// Renew returns false and changes nothing.
func (t *Table[R, P]) Renew(
	tx *sqlstore.Tx, r P, pool *workqueue.Pool, own workqueue.Lease, sends bool, now time.Time,
) (until time.Time, renewed bool, err error) {
	if pool == nil {
		return time.Time{}, false, nil
	}
	b, until := r.Shared(), pool.LeaseEnd(now)
	sentAt := b.SentAt
	if sends {
		sentAt = pool.LatestStart(workqueue.Lease{Until: until})
	}
	n, err := tx.Exec("UPDATE "+t.Name+" SET sent_at = $4, due_at = $5 WHERE id = $1 AND token = $2 AND state = $3",
		b.ID, own.Token, r.Status(), sqlstore.Micros(sentAt), until.UnixMicro())
	if err != nil || n == 0 {
		return time.Time{}, false, err
	}
	b.SentAt = sentAt
	return until, true, nil
}

// RecordFinal records the step that brought a transaction to a final state at a time. column
// is the name of the column for that time. If the clock that wrote the last step is ahead,
// RecordFinal moves the time in the row to that step. It returns the time of the final state.
func (t *Table[R, P]) RecordFinal(
	tx *sqlstore.Tx, id string, act schema.StepAct, answer schema.StepAnswer, at time.Time, column string,
) (time.Time, error) {
	noted, err := RecordStep(tx, id, act, answer, at)
	if err == nil && noted.After(at) {
		_, err = tx.Exec("UPDATE "+t.Name+" SET "+column+" = $2 WHERE id = $1", id, noted.UnixMicro())
	}
	return noted, err
}
