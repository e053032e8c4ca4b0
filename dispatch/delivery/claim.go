package delivery

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// lockedPause is the delay before the next claim for a lane (the queue of one subscription) if another transaction has
// locked a due row. That transaction has usually ended by then.
const lockedPause = time.Second

// selectDue finds the due deliveries of one subscription by the index delivery_due.
const selectDue = `SELECT id, event_id, mode, attempts, due_at FROM delivery
	WHERE webhook_id = $1 AND state = 'waiting' AND due_at <= $2 ORDER BY due_at, id LIMIT $3`

// These statements find the earliest due time of the deliveries that a claim has not leased. $2 is the end of the
// claim's lease, and the claim sets the due time of its own rows to that time. So selectBefore cannot find these
// rows, and selectAfter excludes them by their token.
const (
	selectBefore = "SELECT due_at FROM delivery WHERE webhook_id = $1 AND state = 'waiting' AND due_at < $2 ORDER BY due_at LIMIT 1"
	selectAfter  = "SELECT due_at FROM delivery WHERE webhook_id = $1 AND state = 'waiting' AND due_at >= $2 AND token <> $3 ORDER BY due_at LIMIT 1"
)

var (
	leases       = workqueue.NewLeases("delivery", "id")
	selectEvents = sqlstore.NewBatchStatement(0, "SELECT id, type, created_at, envelope, trace FROM event WHERE id IN (", "?", ")")
)

// Claim leases due deliveries in the order of their due times. It skips rows that have an unexpired lease, and rows
// that another transaction has locked.
func Claim(tx *sqlstore.Tx, wants []LaneClaim, lease workqueue.Lease, now time.Time) ([]Claimed, error) {
	all := make([]Claimed, len(wants))
	var rows []*Row
	var keys [][]any
	for i, w := range wants {
		found, err := workqueue.SelectDue(tx, "delivery", scanDue(w.Webhook), selectDue, w.Webhook, now.UnixMicro(), max(w.Limit, 0))
		if err != nil {
			return nil, fmt.Errorf("looking for due deliveries of %s: %w", w.Webhook, err)
		}
		all[i] = Claimed{Webhook: w.Webhook, Rows: found}
		for j := range found {
			rows, keys = append(rows, &found[j]), append(keys, []any{found[j].ID})
		}
	}
	if err := leases.Claim(tx, lease, keys); err != nil {
		return nil, fmt.Errorf("leasing %d deliveries: %w", len(rows), err)
	}
	if err := fillEvents(tx, rows); err != nil {
		return nil, fmt.Errorf("reading the events of %d deliveries: %w", len(rows), err)
	}
	for i, w := range wants {
		next, err := nextOf(tx, w.Webhook, lease)
		if err != nil {
			return nil, fmt.Errorf("looking for the next delivery of %s: %w", w.Webhook, err)
		}
		if len(all[i].Rows) < w.Limit && !next.IsZero() && !next.After(now) {
			next = now.Add(lockedPause)
		}
		all[i].Next = next
	}
	return all, nil
}

func scanDue(webhook string) func(sqlstore.Scanner) (Row, error) {
	return func(row sqlstore.Scanner) (Row, error) {
		r := Row{Webhook: webhook}
		var mode string
		var due int64
		err := row.Scan(&r.ID, &r.EventID, &mode, &r.Attempts, &due)
		r.World, r.DueAt = schema.WorldOf(mode), time.UnixMicro(due).UTC()
		return r, err
	}
}

// fillEvents sets the fields of rows that come from their events. It reads each event once. Rows of the same event
// share the envelope.
func fillEvents(tx *sqlstore.Tx, rows []*Row) error {
	about := map[string][]*Row{}
	var ids []any
	for _, r := range rows {
		if about[r.EventID] == nil {
			ids = append(ids, r.EventID)
		}
		about[r.EventID] = append(about[r.EventID], r)
	}
	return selectEvents.Each(len(ids), func(text string, from, to int) error {
		return sqlstore.Each(tx, func(row sqlstore.Scanner) error {
			var id, kind, trace string
			var happened int64
			var envelope []byte
			if err := row.Scan(&id, &kind, &happened, &envelope, &trace); err != nil {
				return err
			}
			for _, r := range about[id] {
				r.Type, r.Envelope, r.Trace, r.Happened = schema.EventType(kind), envelope, trace, time.UnixMicro(happened).UTC()
			}
			return nil
		}, text, ids[from:to]...)
	})
}

// nextOf returns the earliest due time of a subscription's waiting deliveries that do not have the given lease. It
// returns the zero time if there are none.
func nextOf(tx *sqlstore.Tx, webhook string, lease workqueue.Lease) (time.Time, error) {
	var due int64
	until := lease.Until.UnixMicro()
	err := tx.QueryRow(selectBefore, webhook, until).Scan(&due)
	if errors.Is(err, sql.ErrNoRows) {
		err = tx.QueryRow(selectAfter, webhook, until, lease.Token).Scan(&due)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, err
	}
	return time.UnixMicro(due).UTC(), nil
}

// Release releases the leases of deliveries that were not attempted, and restores their due times. It does not change
// deliveries that have another token.
func Release(tx *sqlstore.Tx, token string, rows []Row) error {
	all := make([]workqueue.Leased, len(rows))
	for i, r := range rows {
		all[i] = workqueue.Leased{Key: []any{r.ID}, Token: token, Due: r.DueAt}
	}
	if err := leases.Release(tx, all); err != nil {
		return fmt.Errorf("releasing %d deliveries: %w", len(rows), err)
	}
	return nil
}
