package outbox

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/schema"
)

// batchMost bounds a batch: enough that its two commits do not matter, and
// little enough that its first event does not wait for its last.
const batchMost = 500

// relay is the work of the one instance that leads.
type relay struct {
	*Outbox
	to Publisher
	// done are events that are safe and not yet deleted; they are not brought again.
	done []string
}

// relay brings events on until ctx ends.
func (o *Outbox) relay(ctx context.Context, to Publisher) {
	r := relay{Outbox: o, to: to}
	var p pace
	for woken := true; ctx.Err() == nil; {
		safe, err := 0, error(nil)
		if woken || !r.empty(ctx) {
			safe, err = r.pass(ctx)
		}
		if errors.Is(err, ErrTurn) {
			woken = true
			continue
		}
		if safe > 0 && !woken {
			p.found(time.Now())
		}
		if err != nil {
			sleep.For(ctx, p.failure(safe > 0))
			woken = true // whoever has waited for the publisher was not found by polling
			continue
		}
		woken = o.await(ctx, p.idle(time.Now()))
	}
}

// empty says that nothing waits, for less than reading it costs. When it cannot
// tell it is false, and reading says what is wrong.
func (o *Outbox) empty(ctx context.Context) bool {
	var id string
	err := o.DB.View(ctx).QueryRow("SELECT event_id FROM outbox LIMIT 1").Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return false
	}
	o.backlog.none(time.Now())
	return true
}

// await waits until something is committed in this process, or for a while; it
// says which.
func (o *Outbox) await(ctx context.Context, d time.Duration) (woken bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-o.woken:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

var errNotSafe = errors.New("the publisher has not taken all events")

// pass brings on what waits, batch after batch from the oldest, and says how many
// are safe now. When some of a batch are not, it goes on behind it and leaves out
// the accounts to which those belong, so that what holds up one account (a
// partition without a leader, ten thousand subscriptions) holds up no other. Then
// it ends with an error, which is ErrTurn when nothing has failed, and the next
// pass brings them again, the oldest first.
func (r *relay) pass(ctx context.Context) (safe int, err error) {
	held := map[string]bool{} // accounts with an event that was not safe
	for after := ""; ctx.Err() == nil; {
		if err := r.forget(ctx); err != nil {
			return safe, err
		}
		all, unread := r.read(ctx, after)
		if unread != nil {
			return safe, unread
		}
		n, failure := r.publish(ctx, all, held)
		safe += n
		if failure != nil && (err == nil || errors.Is(err, ErrTurn)) {
			err = failure
		}
		if len(all) < batchMost || failure != nil && n == 0 && !errors.Is(failure, ErrSome) {
			break
		}
		if len(held) > 0 { // else what was committed late, with an older id, is first
			after = all[len(all)-1].ID
		}
	}
	if unforgotten := r.forget(ctx); unforgotten != nil {
		return safe, unforgotten
	}
	return safe, err
}

// read returns the oldest events that wait, after an id. The ids come from a
// query of their own, so that the planner of PostgreSQL, whatever it believes of
// a table that is full one moment and empty the next, does not walk through event.
func (r *relay) read(ctx context.Context, after string) (all []Event, err error) {
	defer func() { r.metrics.reading.Tell(ctx, err) }()
	return sqlstore.All(r.DB.View(ctx), scanEvent, `
		SELECT e.id, e.account_id, e.mode, e.type, e.created_at, e.envelope, e.trace
		FROM (SELECT event_id FROM outbox WHERE event_id > $1 ORDER BY event_id LIMIT $2) AS o
		JOIN event e ON e.id = o.event_id ORDER BY o.event_id`, after, batchMost)
}

func scanEvent(row sqlstore.Scanner) (e Event, err error) {
	var mode string
	var at int64
	err = row.Scan(&e.ID, &e.Account, &mode, &e.Type, &at, &e.Envelope, &e.Trace)
	e.CreatedAt = time.UnixMicro(at).UTC()
	e.World = schema.WorldOf(mode)
	return e, err
}

// publish brings on those of a batch whose account is not held up, and notes
// what became of them.
func (r *relay) publish(ctx context.Context, all []Event, held map[string]bool) (safe int, err error) {
	batch := all
	if len(held) > 0 {
		batch = slices.DeleteFunc(slices.Clone(all), func(e Event) bool { return held[e.Account] })
	}
	if len(batch) == 0 {
		return 0, nil
	}
	told := Steps(ctx, r.Trace, batch, r.Now(), "event relay", tracing.Tells)
	taken, err := r.to.Publish(ctx, batch)
	tracing.DoneAll(told, err)
	ids := make(map[string]bool, len(taken))
	for i := range taken {
		ids[taken[i].ID] = true
	}
	for i := range batch {
		if ids[batch[i].ID] {
			r.done = append(r.done, batch[i].ID)
			safe++
		} else {
			held[batch[i].Account] = true
		}
	}
	r.metrics.relayed.Add(float64(safe))
	if err == nil && safe < len(batch) {
		err = errNotSafe
	}
	switch {
	case errors.Is(err, ErrTurn):
		r.metrics.publishing.Tell(ctx, nil)
	case err != nil || len(held) == 0: // what goes on behind the held ones is not the end of that
		r.metrics.publishing.Tell(ctx, err)
	}
	return safe, err
}

// forgetMost is how long a deletion may wait for its turn when the service stops.
const forgetMost = 2 * time.Second

var deleteRelayed = sqlstore.Group(0, "DELETE FROM outbox WHERE event_id IN (", "?", ")")

// forget deletes what is safe from the outbox, also at the end of ctx: what was
// brought on is then not brought again by the next one. It deletes by id and not
// by range: an event that is committed late has an older id than those here.
func (r *relay) forget(ctx context.Context) error {
	if len(r.done) == 0 {
		return nil
	}
	within := ctx
	if ctx.Err() != nil {
		limit, done := context.WithTimeout(context.WithoutCancel(ctx), forgetMost)
		defer done()
		within = limit
	}
	err := r.DB.Update(within, func(tx *sqlstore.Tx) error {
		return deleteRelayed.Each(len(r.done), func(text string, from, to int) error {
			args := make([]any, 0, to-from)
			for _, id := range r.done[from:to] {
				args = append(args, id)
			}
			_, err := tx.Exec(text, args...)
			return err
		})
	})
	r.metrics.deleting.Tell(ctx, err)
	if err != nil {
		return err
	}
	r.done = r.done[:0]
	return nil
}
