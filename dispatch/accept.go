package dispatch

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/dispatch/subscription"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/internal/workqueue"
	"vayu/schema"
)

const (
	// insertBatch is the maximum number of deliveries that one transaction inserts. On SQLite, all other writes wait
	// for the transaction, so it must be short.
	insertBatch = 128
	// yieldAfter is the number of deliveries after which Publish stops, so that the relay can serve other accounts.
	// Storing that many deliveries takes about 0.1 s.
	yieldAfter = 32 * insertBatch
)

// Publish implements outbox.Publisher for a service without Kafka: it stores the deliveries of the events that the
// relay publishes.
func (s *Service) Publish(ctx context.Context, batch []outbox.Event) (acked []outbox.Event, err error) {
	return s.accept(ctx, batch, yieldAfter)
}

// Check implements outbox.Publisher. It returns nil, because events and deliveries are in the same store.
func (s *Service) Check(context.Context) error { return nil }

// accept stores a delivery for each event and each subscription that matches the event. It skips a subscription that
// was created after the event, or whose health the event is about. accept does not wait for attempts, and is
// idempotent. It stops after the event that brings the number of deliveries to `most` or above. It returns the events
// whose deliveries are all stored. The error is outbox.ErrYield if accept has stopped before the end of the batch.
// After any other error, some deliveries of the remaining events may be stored.
func (s *Service) accept(ctx context.Context, batch []outbox.Event, most int) (acked []outbox.Event, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	// All events of the batch were committed before this refresh. So the refreshed cache contains every subscription
	// that existed when an event of the batch was created.
	if err := s.Subscriptions.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("matching events: %w", err)
	}
	seen := s.Subscriptions.Snapshot()
	batch = sortByFanOut(seen, batch)
	var group []delivery.Draft // deliveries of the next transaction, at most insertBatch; a batch can have millions
	stored, n := 0, 0
	for ; n < len(batch) && (n == 0 || stored+len(group) < most); n++ {
		event := &batch[n]
		for _, sub := range seen.Matching(event.Account, event.World, event.Type) {
			if isAbout(event, sub.ID) {
				continue
			}
			if !sub.Saw(event.CreatedAt) {
				s.metrics.older.Inc()
				continue
			}
			if len(group) == insertBatch {
				if err := s.store(ctx, group); err != nil {
					return acked, err
				}
				stored += len(group)
				group, acked = group[:0], batch[:n]
			}
			group = append(group, delivery.Draft{Event: event, Webhook: sub.ID, Active: sub.Active})
		}
	}
	if len(group) > 0 {
		if err := s.store(ctx, group); err != nil {
			return acked, err
		}
	}
	if n < len(batch) {
		return batch[:n], outbox.ErrYield
	}
	return batch, nil
}

// isAbout reports whether an event is about the health of the given webhook. accept sends no such event to that
// webhook: a failing endpoint would get the event only after it has recovered.
func isAbout(event *outbox.Event, webhook string) bool {
	return event.Type.Scope() == schema.WebhooksManage && bytes.Contains(event.Envelope, []byte(`"webhook_id":"`+webhook+`"`))
}

// sortByFanOut returns a batch in which the events of accounts with few deliveries come first. So an account with
// thousands of deliveries does not delay others. The order of events within an account does not change.
func sortByFanOut(seen *subscription.Snapshot, batch []outbox.Event) []outbox.Event {
	weights := map[string]int{}
	for i := range batch {
		e := &batch[i]
		weights[e.Account] += len(seen.Matching(e.Account, e.World, e.Type))
	}
	if len(weights) == 1 {
		return batch
	}
	sorted := slices.Clone(batch)
	slices.SortStableFunc(sorted, func(x, y outbox.Event) int {
		if x.Account == y.Account {
			return 0
		}
		return cmp.Or(cmp.Compare(weights[x.Account], weights[y.Account]), cmp.Compare(x.Account, y.Account))
	})
	return sorted
}

// store inserts a group of deliveries in one transaction, except existing ones, and adds the leased ones to the queue.
func (s *Service) store(ctx context.Context, group []delivery.Draft) error {
	now := s.Now()
	grant := s.newLease(now)
	reserved := s.reserve(group, now)
	var rows []delivery.Row
	spans := s.startSpans(ctx, group, now)
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		rows, err = delivery.Insert(tx, group, grant, now)
		return err
	})
	tracing.DoneAll(spans, err)
	if err != nil {
		rows = nil
	}
	s.addStored(reserved, rows, grant)
	if err != nil {
		return fmt.Errorf("storing deliveries: %w", err)
	}
	if s.markDue(group, now) {
		signal(s.claimSignal)
	}
	signal(s.sendSignal)
	return nil
}

// startSpans starts a span (timed step) "delivery store" in the trace of each event of a group.
func (s *Service) startSpans(ctx context.Context, group []delivery.Draft, now time.Time) []tracing.Span {
	if s.Trace == nil {
		return nil
	}
	var events []outbox.Event
	for i := range group {
		if i == 0 || group[i].Event != group[i-1].Event { // drafts of one event are adjacent
			events = append(events, *group[i].Event)
		}
	}
	return outbox.Steps(ctx, s.Trace, events, now, "delivery store", tracing.Consumer)
}

// reserve reserves room in the queue for the drafts of a group whose subscription is not paused. It sets Lease on each
// draft that gets room. It returns the number of reservations for each subscription id.
func (s *Service) reserve(group []delivery.Draft, now time.Time) map[string]int {
	reserved := map[string]int{}
	if s.stopping.Load() {
		return reserved
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range group {
		if d := &group[i]; d.Active && s.queue.Reserve(d.Webhook, 1, now) == 1 {
			d.Lease = true
			reserved[d.Webhook]++
		}
	}
	return reserved
}

// addStored adds leased rows to the lanes of their endpoints. It ends the reservations of drafts for which no row was
// inserted, because the delivery existed before or the transaction failed.
func (s *Service) addStored(reserved map[string]int, rows []delivery.Row, grant workqueue.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range rows {
		s.queue.Add(rows[i].Webhook, []*work{{rows[i], grant.Token}}, grant.Until)
		reserved[rows[i].Webhook]--
	}
	for webhook, n := range reserved {
		s.queue.Unreserve(webhook, n)
	}
}

// markDue marks drafts as due in the queue if they have no lease and their subscription is not paused. It
// returns true if it has marked one.
func (s *Service) markDue(group []delivery.Draft, now time.Time) (some bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range group {
		if d := &group[i]; d.Active && !d.Lease {
			s.queue.Due(d.Webhook, now)
			some = true
		}
	}
	return some
}
