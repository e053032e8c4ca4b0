package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/dispatch/subscription"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
)

const (
	// acceptMost bounds the deliveries of one transaction: on SQLite all other
	// changes wait for it.
	acceptMost = 128
	// turnMost is after how many deliveries the relay should look for events of
	// others: a tenth of a second.
	turnMost = 32 * acceptMost
)

// Publish implements outbox.Publisher: the relay hands events straight over.
func (s *Service) Publish(ctx context.Context, batch []outbox.Event) (safe []outbox.Event, err error) {
	return s.accept(ctx, batch, turnMost)
}

// Accept stores a delivery of each event for each subscription that asks for its
// type and was there when it happened, and begins to send those for which there is room. When it returns nil all
// of them are stored; after an error some may be. Events that come again change
// nothing.
func (s *Service) Accept(ctx context.Context, batch []outbox.Event) error {
	_, err := s.accept(ctx, batch, math.MaxInt)
	return err
}

// accept is Accept until so many deliveries are stored, but for at least one
// event. It returns the events all of whose deliveries are, and outbox.ErrTurn
// when there are more.
func (s *Service) accept(ctx context.Context, batch []outbox.Event, most int) (safe []outbox.Event, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	// Whoever subscribed before an event happened gets it: the book is brought up to
	// date after the events were committed.
	if err := s.Subscriptions.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("matching events: %w", err)
	}
	seen := s.Subscriptions.Snapshot()
	batch = lightestFirst(seen, batch)
	var group []order // not all: ten thousand subscriptions make millions of a batch
	stored, n := 0, 0
	for ; n < len(batch) && (n == 0 || stored+len(group) < most); n++ {
		event := &batch[n]
		for _, sub := range seen.Matching(event.Account, event.World, event.Type) {
			if !sub.Saw(event.CreatedAt) {
				s.metrics.older.Inc()
				continue
			}
			if len(group) == acceptMost {
				if err := s.store(ctx, group); err != nil {
					return safe, err
				}
				stored += len(group)
				group, safe = group[:0], batch[:n]
			}
			group = append(group, order{delivery.Order{Event: event, Webhook: sub.ID}, sub.Active})
		}
	}
	if len(group) > 0 {
		if err := s.store(ctx, group); err != nil {
			return safe, err
		}
	}
	if n < len(batch) {
		return batch[:n], outbox.ErrTurn
	}
	return batch, nil
}

// lightestFirst is a batch with the accounts first whose events make the fewest
// deliveries, so that they do not wait for one that makes thousands. The order
// within an account stays.
func lightestFirst(seen *subscription.Snapshot, batch []outbox.Event) []outbox.Event {
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

// order is a delivery to be stored, and whether it may be sent now.
type order struct {
	delivery.Order

	active bool
}

// store stores a group of orders in one transaction. Those that are there from an
// earlier try are passed over.
func (s *Service) store(ctx context.Context, group []order) error {
	now := s.Now()
	taken := s.newLease(now)
	asked := s.reserve(group, now)
	placed := make([]delivery.Order, len(group))
	for i := range group {
		placed[i] = group[i].Order
	}
	var rows []delivery.Row
	steps := s.steps(ctx, placed, now)
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		rows, err = delivery.Insert(tx, placed, taken, now)
		return err
	})
	tracing.DoneAll(steps, err)
	if err != nil {
		rows = nil
	}
	s.take(asked, rows, taken)
	if err != nil {
		return fmt.Errorf("storing deliveries: %w", err)
	}
	if s.due(group, now) {
		nudge(s.hungry)
	}
	nudge(s.ready)
	return nil
}

// reserve finds out which deliveries can be sent at once. It returns how many of
// each subscription.
func (s *Service) reserve(group []order, now time.Time) map[string]int {
	asked := map[string]int{}
	if s.stopping.Load() {
		return asked
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range group {
		if o := &group[i]; o.active && s.queue.Reserve(o.Webhook, 1, now) == 1 {
			o.Lease = true
			asked[o.Webhook]++
		}
	}
	return asked
}

// take puts what was stored and leased into its lanes, and gives up the room of
// what was there already.
func (s *Service) take(asked map[string]int, rows []delivery.Row, taken delivery.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range rows {
		s.queue.Add(rows[i].Webhook, []*work{{rows[i], taken.Token}}, taken.Until)
		asked[rows[i].Webhook]--
	}
	for webhook, n := range asked {
		s.queue.Unreserve(webhook, n)
	}
}

// due notes what was stored and not leased, and says whether there was any.
func (s *Service) due(group []order, now time.Time) (some bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range group {
		if o := &group[i]; o.active && !o.Lease {
			s.queue.Due(o.Webhook, now)
			some = true
		}
	}
	return some
}
