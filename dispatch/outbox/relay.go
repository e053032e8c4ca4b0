package outbox

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/schema"
)

// maxBatch is the maximum number of events in a batch. Such a batch spreads the cost of its commits over many events.
// In a larger batch, the first event would wait longer until the whole batch is published.
const maxBatch = 500

// Publisher is the destination of the relay. kafka.Log implements it for Kafka, and dispatch.Service without Kafka.
// cmd/vayu/wiring chooses one of them.
type Publisher interface {
	// Publish publishes a batch. It returns the acknowledged events of the batch in their order, even with an error. The
	// relay retries the other events, so an event may be published twice.
	//
	// Events of an account must be published in order. If an event of the batch is not acknowledged, Publish must not
	// acknowledge later events of the same account. The relay retries that event before it publishes later ones of the
	// account. Publish may keep the batch but must not change it.
	//
	// ErrYield is not a failure: the relay publishes events of other accounts, and then retries the unacknowledged events
	// of the batch. ErrPartial means that only some accounts failed: the relay continues with the events after the batch.
	Publish(ctx context.Context, batch []Event) (safe []Event, err error)
	// Check returns an error if the destination of the events does not reply.
	Check(ctx context.Context) error
}

// ErrYield and ErrPartial are errors of Publish, see [Publisher].
var (
	ErrYield   = errors.New("events of other accounts come first")
	ErrPartial = errors.New("events of some accounts are blocked")
)

// relay publishes the events of this instance's partitions.
type relay struct {
	*Outbox
	to Publisher

	batching sync.Mutex // locked during a batch; guards the fields below
	owned    owned
	gained   bool // a partition was added since the last batch
	// acked are the ids of acknowledged events that are still in the outbox. The relay deletes them before it reads the
	// next events, so that it does not publish them again.
	acked []string
	// failingSince is the start of the first call of Publish since which no event was acknowledged; zero without failure.
	failingSince time.Time
	leave        context.CancelFunc // gives up all partitions (see giveUp)
}

const (
	// giveUpAfter is how long Publish must fail before the instance gives up its partitions. The instance then claims none
	// for the duration absence, and until Check succeeds.
	giveUpAfter = 5 * time.Second
	absence     = 5 * time.Second
)

// leadName is the common name of the leases with which instances divide the partitions (see share.Config.Group).
const leadName = "outbox"

// Run publishes events and purges expired ones until ctx ends. On PostgreSQL, instances divide the partitions of the
// outbox among each other. If a call of Publish is in progress when ctx ends, Run waits for it.
func (o *Outbox) Run(ctx context.Context, to Publisher) error {
	o.backlog.Store(&backlog{})
	r := &relay{Outbox: o, to: to}
	ctx, end := context.WithCancel(ctx)
	var relaying sync.WaitGroup
	relaying.Go(func() { r.run(ctx) })
	defer relaying.Wait()
	defer end()
	for {
		present, leave := context.WithCancel(ctx)
		r.batching.Lock()
		r.leave = leave
		r.batching.Unlock()
		err := r.share(present)
		leave()
		for away := true; away; away = to.Check(ctx) != nil {
			if err != nil || !sleep.For(ctx, absence) {
				return err
			}
		}
	}
}

// giveUp gives up all partitions if no event was acknowledged for giveUpAfter. Another instance may reach the publisher.
// On SQLite there is no other instance.
func (r *relay) giveUp(ctx context.Context) {
	r.batching.Lock()
	defer r.batching.Unlock()
	if r.failingSince.IsZero() || time.Since(r.failingSince) < giveUpAfter || r.DB.Name() == "sqlite" {
		return
	}
	r.Log.WarnContext(ctx, "giving up the partitions of the outbox, because no event can be published")
	r.owned, r.acked, r.failingSince = owned{}, nil, time.Time{}
	r.leave()
}

// run publishes events until ctx ends.
func (r *relay) run(ctx context.Context) {
	var p pollDelay
	for woken := true; ctx.Err() == nil; {
		safe, err := 0, error(nil)
		if woken || !r.ownsNone() && !r.empty(ctx) {
			safe, err = r.pass(ctx)
		}
		if errors.Is(err, ErrYield) {
			woken = true
			continue
		}
		if safe > 0 && !woken {
			p.found(time.Now())
		}
		if err != nil {
			r.giveUp(ctx)
			delay := p.failure(safe > 0)
			if errors.Is(err, ErrPartial) {
				// await returns early if this process commits an event, so other accounts' events do not wait for the
				// retry. The sleep limits how often a pass reads the blocked events.
				sleep.For(ctx, firstRetry)
				r.await(ctx, min(delay, lastPartial)-firstRetry)
			} else {
				sleep.For(ctx, delay)
			}
			woken = true // the next pass must not count as quick polling: these events are late because of the failure
			continue
		}
		woken = r.await(ctx, p.idle(time.Now()))
	}
}

// empty reports whether the outbox is empty. It costs less than the method read. After an error it returns false, so
// that the caller calls read, which reports the error.
func (o *Outbox) empty(ctx context.Context) bool {
	var id string
	err := o.DB.View(ctx).QueryRow("SELECT event_id FROM outbox LIMIT 1").Scan(&id)
	return errors.Is(err, sql.ErrNoRows)
}

// await waits until this process commits an event, and then returns true. If the duration d or ctx ends before, it
// returns false.
func (o *Outbox) await(ctx context.Context, d time.Duration) (woken bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-o.wakeSignal:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

var errNotAcked = errors.New("the publisher has not acknowledged all events")

// pass publishes the events of the owned outbox partitions in batches, oldest first, and returns the number of
// acknowledged events. After an unacknowledged event it skips later events of the same account, so a Kafka partition
// without a leader blocks only its own accounts. A batch that fails without an acknowledged event ends the pass, unless
// its error is ErrPartial. pass returns ErrYield only if no batch failed with another error.
func (r *relay) pass(ctx context.Context) (safe int, err error) {
	blocked := map[string]bool{} // accounts with an unacknowledged event
	for after := ""; ctx.Err() == nil; {
		all, n, failure := r.batch(ctx, after, blocked)
		safe += n
		if failure != nil && (err == nil || errors.Is(err, ErrYield)) {
			err = failure
		}
		if len(all) < maxBatch || failure != nil && n == 0 && !errors.Is(failure, ErrPartial) {
			break
		}
		if len(blocked) > 0 { // else the next batch starts at the oldest event again, which finds lower ids committed late
			after = all[len(all)-1].ID
		}
	}
	return safe, err
}

// batch reads the next events after the id `after`, publishes them, and deletes the acknowledged ones. It returns all
// events that it has read, and the number of acknowledged ones. If the store fails, it returns no events.
func (r *relay) batch(ctx context.Context, after string, blocked map[string]bool) (all []Event, safe int, err error) {
	r.batching.Lock()
	defer r.batching.Unlock()
	if err := r.deleteAcked(ctx); err != nil {
		return nil, 0, err
	}
	if r.gained { // the ids of events in the new partition may be lower than `after`
		r.gained, after = false, ""
	}
	if all, err = r.read(ctx, after); err != nil {
		return nil, 0, err
	}
	safe, err = r.publish(ctx, all, blocked)
	if failure := r.deleteAcked(ctx); failure != nil {
		return nil, safe, failure
	}
	return all, safe, err
}

// read returns the oldest events whose ids are greater than `after`. A subquery reads these ids first. Without the
// subquery, PostgreSQL might scan the whole table "event", because its statistics of the outbox are often wrong.
func (r *relay) read(ctx context.Context, after string) (all []Event, err error) {
	if r.owned == (owned{}) {
		return nil, nil
	}
	defer func() { r.metrics.reading.Observe(ctx, err) }()
	for {
		var unassigned []Event
		all, err = sqlstore.All(r.DB.View(ctx), func(row sqlstore.Scanner) (Event, error) {
			var p sql.NullInt64
			e, err := scanEvent(row, &p)
			if !p.Valid {
				unassigned = append(unassigned, e)
			}
			return e, err
		}, `SELECT e.id, e.account_id, e.mode, e.type, e.created_at, e.envelope, e.trace, o.partition
			FROM (`+r.owned.selectNext()+`) AS o JOIN event e ON e.id = o.event_id ORDER BY o.event_id`, after, maxBatch)
		if err != nil || len(unassigned) == 0 || r.owned.all() {
			return all, err
		}
		if err := r.assign(ctx, unassigned); err != nil {
			return nil, err
		}
	}
}

var selectByIDs = sqlstore.NewBatchStatement(0, `SELECT id, account_id, mode, type, created_at, envelope, trace FROM event WHERE id IN (`, "?", ")")

// ByIDs returns the events with the given ids, in the order of the ids. It omits unknown ids.
func ByIDs(view sqlstore.View, ids []string) (all []Event, err error) {
	found := make(map[string]Event, len(ids))
	err = selectByIDs.Each(len(ids), func(text string, from, to int) error {
		args := make([]any, 0, to-from)
		for _, id := range ids[from:to] {
			args = append(args, id)
		}
		return sqlstore.Each(view, func(row sqlstore.Scanner) error {
			e, err := scanEvent(row)
			found[e.ID] = e
			return err
		}, text, args...)
	})
	for _, id := range ids {
		if e, ok := found[id]; ok {
			all = append(all, e)
			delete(found, id)
		}
	}
	return all, err
}

// scanEvent reads the columns of an event, and then further columns into the pointers in `more`.
func scanEvent(row sqlstore.Scanner, more ...any) (e Event, err error) {
	var mode string
	var at int64
	err = row.Scan(append([]any{&e.ID, &e.Account, &mode, &e.Type, &at, &e.Envelope, &e.Trace}, more...)...)
	e.CreatedAt = time.UnixMicro(at).UTC()
	e.World = schema.WorldOf(mode)
	return e, err
}

// publish publishes the events of a batch, except those of blocked accounts. It adds the accounts of unacknowledged
// events to `blocked`.
func (r *relay) publish(ctx context.Context, all []Event, blocked map[string]bool) (safe int, err error) {
	batch := all
	if len(blocked) > 0 {
		batch = slices.DeleteFunc(slices.Clone(all), func(e Event) bool { return blocked[e.Account] })
	}
	if len(batch) == 0 {
		return 0, nil
	}
	spans := Steps(ctx, r.Trace, batch, r.Now(), "event relay", tracing.Producer)
	begin := time.Now()
	acked, err := r.to.Publish(ctx, batch)
	tracing.DoneAll(spans, err)
	ids := make(map[string]bool, len(acked))
	for i := range acked {
		ids[acked[i].ID] = true
	}
	for i := range batch {
		if ids[batch[i].ID] {
			r.acked = append(r.acked, batch[i].ID)
			safe++
		} else {
			blocked[batch[i].Account] = true
		}
	}
	r.metrics.relayed.Add(float64(safe))
	if err == nil && safe < len(batch) {
		err = errNotAcked
	}
	switch {
	case err == nil || safe > 0 || errors.Is(err, ErrYield) || errors.Is(err, ErrPartial):
		r.failingSince = time.Time{}
	case r.failingSince.IsZero():
		r.failingSince = begin
	}
	switch {
	case errors.Is(err, ErrYield):
		r.metrics.publishing.Observe(ctx, nil)
	case err != nil || len(blocked) == 0: // while accounts are blocked, the success of others does not end the failure
		r.metrics.publishing.Observe(ctx, err)
	}
	return safe, err
}

// deleteTimeout bounds the time for deleting acknowledged events if ctx has ended.
const deleteTimeout = 2 * time.Second

var deleteRelayed = sqlstore.NewBatchStatement(0, "DELETE FROM outbox WHERE event_id IN (", "?", ")")

// deleteAcked deletes acknowledged events from the outbox. It does so even if ctx has ended, so that the next owner of
// the partition does not publish them again. It deletes by single ids, because a range of ids could include unpublished
// events that were committed late.
func (r *relay) deleteAcked(ctx context.Context) error {
	if len(r.acked) == 0 {
		return nil
	}
	within := ctx
	if ctx.Err() != nil {
		limit, done := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
		defer done()
		within = limit
	}
	err := r.DB.Update(within, func(tx *sqlstore.Tx) error {
		return deleteRelayed.Each(len(r.acked), func(text string, from, to int) error {
			args := make([]any, 0, to-from)
			for _, id := range r.acked[from:to] {
				args = append(args, id)
			}
			_, err := tx.Exec(text, args...)
			return err
		})
	})
	r.metrics.deleting.Observe(ctx, err)
	if err != nil {
		return err
	}
	r.acked = r.acked[:0]
	return nil
}
