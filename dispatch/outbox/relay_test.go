package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

func TestEventsArePublishedInOrder(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		ids := []string{}
		for n := range 2*maxBatch + 3 {
			ids = append(ids, fmt.Sprint(n))
		}
		if err := d.DB.Update(t.Context(), func(tx *sqlstore.Tx) (err error) {
			for n := range ids {
				if ids[n], err = d.Append(tx, accounts[n%3], schema.Live, schema.EventPaymentSucceeded, map[string]int{"n": n}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s := newMemoryPublisher()
		stop := d.run(s)
		s.await(t, ids...)
		ids = append(ids, d.appendEvent("acc_a"))
		s.await(t, ids...)
		fixture.Eventually(t, "nothing waits any more", func() bool { return d.count("outbox") == 0 }) // it was taken a moment ago
		stop()
		if len(s.ids("")) != len(ids) {
			t.Errorf("%d events came, want %d", len(s.ids("")), len(ids))
		}
		for _, account := range accounts[:3] {
			if got := s.ids(account); !slices.IsSorted(got) {
				t.Errorf("%s got its events in the order %v", account, got)
			}
		}
		if n := d.count("outbox"); n != 0 {
			t.Errorf("%d events wait after they were brought on", n)
		}
		if n := d.metric("vayu_outbox_relayed_total", ""); int(n) != len(ids) {
			t.Errorf("%v events are counted, want %d", n, len(ids))
		}
	})
}

// Unacknowledged events are retried in order, and block only their account.
func TestUnacknowledgedEventsAreRetried(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		var ids []string
		if err := d.DB.Update(t.Context(), func(tx *sqlstore.Tx) error {
			for n := range 3 * maxBatch {
				account := "acc_a"
				if n%100 == 99 {
					account = "acc_b"
				}
				id, err := d.Append(tx, account, schema.Live, schema.EventPaymentSucceeded, struct{}{})
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s := newMemoryPublisher()
		s.refuse = func(e Event) bool { return e.ID == ids[1] }
		r := d.relay(s)
		safe, err := r.pass(t.Context())
		if safe != 16 || !errors.Is(err, errNotAcked) || d.count("outbox") != len(ids)-safe {
			t.Errorf("%d were safe, %v; want the first of a and the 15 of b, and that the others wait", safe, err)
		}
		if n := d.failures("publish"); n != 1 {
			t.Errorf("%v failures are counted, want 1", n)
		}
		s.set(func() { s.refuse = nil })
		if _, err := r.pass(t.Context()); err != nil || d.count("outbox") != 0 {
			t.Errorf("the second pass: %v, and %d wait", err, d.count("outbox"))
		}
		for account, want := range map[string]int{"acc_a": 3*maxBatch - 15, "acc_b": 15} {
			if got := s.ids(account); !slices.IsSorted(got) || len(got) != want {
				t.Errorf("%s got %d events, in order: %t; want %d", account, len(got), slices.IsSorted(got), want)
			}
		}
		if d.log.Count("level=WARN") != 1 || d.log.Count("level=INFO") != 1 {
			t.Errorf("the log: %s", d.log.String())
		}
	})
}

// The relay continues after a fully blocked batch only if the publisher returns
// ErrPartial. Otherwise each pass would read the whole outbox.
func TestBlockedHeadDelaysNoOther(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		if err := d.DB.Update(t.Context(), func(tx *sqlstore.Tx) error {
			for n := range 2*maxBatch + 10 {
				account := "acc_a" // the second batch has one of c
				switch {
				case n >= 2*maxBatch:
					account = "acc_b"
				case n == maxBatch+1:
					account = "acc_c"
				}
				if _, err := d.Append(tx, account, schema.Live, schema.EventPaymentSucceeded, struct{}{}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s := newMemoryPublisher()
		s.refuse = func(e Event) bool { return e.Account != "acc_b" }
		for _, c := range []struct {
			err  error
			safe int
		}{{errRefused, 0}, {fmt.Errorf("%w: %w", ErrPartial, errRefused), 10}} {
			s.set(func() { s.err = c.err })
			safe, err := d.relay(s).pass(t.Context())
			if safe != c.safe || !errors.Is(err, errRefused) {
				t.Errorf("with %q %d are safe (%v), want %d", c.err, safe, err, c.safe)
			}
		}
	})
}

// Acknowledged events are deleted despite an error and at a stop. Those that could not be
// deleted are not published again.
func TestAcknowledgedEventsAreDeleted(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		first, second := d.appendEvent("acc_a"), d.appendEvent("acc_b")
		s := newMemoryPublisher()
		s.refuse, s.err = func(e Event) bool { return e.ID == second }, errRefused
		r := d.relay(s)
		if _, err := r.pass(t.Context()); !errors.Is(err, errRefused) || d.count("outbox") != 1 {
			t.Errorf("got %v, and %d wait", err, d.count("outbox"))
		}
		s.set(func() { s.refuse, s.err = nil, nil })
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := d.relay(stoppingPublisher{s, cancel}).pass(ctx); err != nil || d.count("outbox") != 0 {
			t.Errorf("at the end: %v, and %d wait", err, d.count("outbox"))
		}
		if diff := cmp.Diff([]string{first, second}, s.ids("")); diff != "" {
			t.Errorf("the events that came: %s", diff)
		}
	})
}

// stoppingPublisher stops the service while it publishes.
type stoppingPublisher struct {
	Publisher
	stop func()
}

func (s stoppingPublisher) Publish(ctx context.Context, batch []Event) ([]Event, error) {
	s.stop()
	return s.Publisher.Publish(ctx, batch)
}

func TestStoreErrorsCauseNoDuplicates(t *testing.T) {
	t.Parallel()
	db, stopStore := sqlstoretest.Start(t, sqlstore.Config{Data: t.TempDir()})
	d := newFixture(t, db)
	d.appendEvent("acc_a")
	s := newMemoryPublisher()
	r := d.relay(closingPublisher{s, stopStore})
	if _, err := r.pass(t.Context()); err == nil || d.failures("delete") != 1 {
		t.Errorf("got %v and %v failures", err, d.failures("delete"))
	}
	for range 3 {
		if _, err := r.pass(t.Context()); err == nil {
			t.Error("a store that is closed deletes")
		}
	}
	if n := len(s.ids("")); n != 1 {
		t.Errorf("one event was brought %d times", n)
	}
	r.acked = nil
	if _, err := r.pass(t.Context()); err == nil || d.failures("read") != 1 {
		t.Errorf("reading: got %v and %v failures", err, d.failures("read"))
	}
	d.backlog.Store(&backlog{})
	_, _ = d.Backlog(t.Context())
	if n := d.failures("look"); n != 1 {
		t.Errorf("got %v failed counts of a store that is closed, want 1", n)
	}
	if n := d.log.Count("level=WARN"); n != 3 {
		t.Errorf("%d lines in the log, want one for each step: %s", n, d.log.String())
	}
}

// closingPublisher closes the store while it publishes.
type closingPublisher struct {
	Publisher
	stop func()
}

func (c closingPublisher) Publish(ctx context.Context, batch []Event) ([]Event, error) {
	safe, err := c.Publisher.Publish(ctx, batch)
	c.stop()
	return safe, err
}

// A commit in this process wakes the relay; one in another process is found by polling.
func TestCommitWakesRelay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, sqlstoretest.Open(t, sqlstore.Config{Data: dir}))
		other := newFixture(t, sqlstoretest.Open(t, sqlstore.Config{Data: dir, Share: true}))
		s := newMemoryPublisher()
		d.run(s)
		time.Sleep(10 * time.Second) // polling is at its slowest
		for range 3 {
			began := time.Now()
			s.await(t, d.appendEvent("acc_a"))
			if waited := time.Since(began); waited != 0 {
				t.Errorf("a commit was brought on after %s", waited)
			}
			time.Sleep(7 * time.Second)
		}
		began := time.Now()
		s.await(t, other.appendEvent("acc_b"))
		if waited := time.Since(began); waited > slowPoll {
			t.Errorf("a commit of another process was brought on after %s", waited)
		}
		time.Sleep(time.Second)
		began = time.Now()
		s.await(t, other.appendEvent("acc_b"))
		if waited := time.Since(began); waited > quickPoll {
			t.Errorf("the next was brought on after %s", waited)
		}
	})
}

func TestPollDelay(t *testing.T) {
	t.Parallel()
	var p pollDelay
	now := noon
	ms := func(all ...int) (out []time.Duration) {
		for _, n := range all {
			out = append(out, time.Duration(n)*time.Millisecond)
		}
		return out
	}
	idle := func(n int) (got []time.Duration) {
		for range n {
			got = append(got, p.idle(now))
		}
		return got
	}
	if diff := cmp.Diff(ms(3, 6, 12, 24, 48, 96, 150, 150), idle(8)); diff != "" {
		t.Errorf("nothing found: %s", diff)
	}
	p.found(now)
	now = now.Add(quickFor - 1)
	if diff := cmp.Diff(ms(3, 3, 3), idle(3)); diff != "" {
		t.Errorf("something found: %s", diff)
	}
	now = now.Add(1)
	if diff := cmp.Diff(ms(3, 6, 12), idle(3)); diff != "" {
		t.Errorf("two seconds later: %s", diff)
	}
	var got []time.Duration
	for n := range 9 {
		got = append(got, p.failure(n == 7))
	}
	if diff := cmp.Diff(ms(100, 200, 400, 800, 1600, 3200, 5000, 100, 200), got); diff != "" {
		t.Errorf("failures: %s", diff)
	}
	p.idle(now)
	if got := p.failure(false); got != firstRetry {
		t.Errorf("the first failure after a success: %s", got)
	}
}

// During an outage of the publisher events wait; the relay retries with backoff and
// recovers.
func TestPublisherOutageIsRetried(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, sqlstoretest.Open(t, sqlstore.Config{Data: dir}))
		s := newMemoryPublisher()
		s.refuse, s.err = func(Event) bool { return true }, errRefused
		d.run(s)
		var ids []string
		for range 10 {
			ids = append(ids, d.appendEvent("acc_a"))
			time.Sleep(time.Minute)
		}
		tries := 0
		s.set(func() { tries = len(s.batches) })
		if tries < 118 || tries > 130 {
			t.Errorf("%d tries in ten minutes, want one every five seconds", tries)
		}
		if waiting, oldest := d.Backlog(t.Context()); waiting != 10 || oldest < 10*time.Minute || oldest > 10*time.Minute+time.Second {
			t.Errorf("%d wait, the oldest for %s", waiting, oldest)
		}
		if n := d.metric("vayu_outbox_waiting", ""); n != 10 {
			t.Errorf("the gauge says that %v wait", n)
		}
		if n := d.metric("vayu_outbox_oldest_seconds", ""); n < 600 || n > 601 {
			t.Errorf("the gauge says that the oldest has waited for %v s", n)
		}
		s.set(func() { s.refuse, s.err = nil, nil })
		s.await(t, ids...)
		time.Sleep(time.Second)
		if waiting, oldest := d.Backlog(t.Context()); waiting != 0 || oldest != 0 {
			t.Errorf("%d wait, the oldest for %s", waiting, oldest)
		}
		if d.log.Count("level=WARN") != 1 || d.log.Count("answers again") != 1 {
			t.Errorf("the log: %s", d.log.String())
		}
	})
}

// Two instances relay the events of both. If one stops, the other one relays all.
func TestInstanceTakesOverRelay(t *testing.T) {
	t.Parallel()
	c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 8}}
	s := newMemoryPublisher()
	var desks [2]*outboxFixture
	var stops [2]func()
	for i := range desks {
		desks[i] = newFixture(t, sqlstoretest.Open(t, c))
		stops[i] = desks[i].run(s)
	}
	var ids []string
	for n := range 40 {
		ids = append(ids, desks[n%2].appendEvent(accounts[n%2]))
	}
	s.await(t, ids...)
	stops[0]()
	for range 20 {
		ids = append(ids, desks[1].appendEvent("acc_a"))
	}
	s.await(t, ids...)
	stops[1]()
	got := s.ids("")
	slices.Sort(got)
	slices.Sort(ids)
	if desks[0].log.Count("lost the leader lease")+desks[1].log.Count("lost the leader lease") > 0 {
		got = slices.Compact(got) // on a busy machine, both may have owned a partition
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("events that came, each once: %s", diff)
	}
	for _, account := range accounts {
		if got := s.ids(account); account == "acc_b" && !slices.IsSorted(got) {
			t.Errorf("%s got its events in the order %v", account, got)
		}
	}
}
