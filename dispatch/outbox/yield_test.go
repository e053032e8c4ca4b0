package outbox

import (
	"context"
	"slices"
	"sync"
	"testing"
)

// oneEachPublisher acknowledges one event of each account and then yields.
type oneEachPublisher struct{ *memoryPublisher }

func (f oneEachPublisher) Publish(ctx context.Context, batch []Event) ([]Event, error) {
	var first []Event
	for _, e := range batch {
		if !slices.ContainsFunc(first, func(other Event) bool { return other.Account == e.Account }) {
			first = append(first, e)
		}
	}
	safe, err := f.memoryPublisher.Publish(ctx, first)
	if err == nil && len(first) < len(batch) {
		err = ErrYield
	}
	return safe, err
}

// A publisher that yields gets all events in order without a failure. Events of other
// accounts are not delayed.
func TestYieldIsNoFailure(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		var ids []string
		for range 30 {
			ids = append(ids, d.appendEvent("acc_a"))
		}
		late := d.appendEvent("acc_b")
		s := newMemoryPublisher()
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { d.relay(oneEachPublisher{s}).run(ctx) })
		stop := func() { cancel(); running.Wait() }
		defer stop()
		s.await(t, append(ids, late)...)
		stop()
		if got := s.ids("acc_a"); !slices.Equal(got, ids) {
			t.Errorf("the events came as %v, want %v", got, ids)
		}
		if at := slices.Index(s.ids(""), late); at > 1 {
			t.Errorf("the event of another account came after %d, want 1 at most", at)
		}
		if d.failures("publish") != 0 || d.log.Count("level=WARN") != 0 {
			t.Errorf("turns are counted as failures: %s", d.log.String())
		}
	})
}
