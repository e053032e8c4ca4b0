package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch"
	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/dispatch/sender"
	"vayu/dispatch/subscription"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// Each subscriber gets an event once, with a valid signature; others get none.
func TestEventGoesToItsSubscribers(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		r, other := receive(t, false, nil), receive(t, false, nil)
		o := newFixture(t, db, nil)
		a, b := o.account("a"), o.account("b")
		o.subscribe(a, r.URL+"/1")
		o.subscribe(a, r.URL+"/2")
		o.subscribe(b, other.URL)
		o.update(func(tx *sqlstore.Tx) error { // another type and another world
			for _, spec := range []subscription.Spec{
				{Owner: schema.Owner{Account: a, World: schema.Live}, Events: []schema.EventType{schema.EventQuotaWarning}},
				{Owner: schema.Owner{Account: a, World: schema.Sandbox}, Events: []schema.EventType{schema.EventPaymentSucceeded}},
			} {
				spec.URL, spec.Secret = other.URL, secret
				if _, _, err := o.book.Create(tx, spec, time.Now()); err != nil {
					return err
				}
			}
			return nil
		})
		o.run()
		const events = 20
		for range events {
			o.appendEvent(a)
		}
		all := r.wait(t, events)
		o.waitSettled()
		r.mu.Lock()
		defer r.mu.Unlock()
		for id, times := range r.seen {
			if times != 2 {
				t.Errorf("%s came %d times, want once for each of two subscriptions", id, times)
			}
		}
		for _, d := range all {
			if d.refused != nil || d.attempt != "1" {
				t.Errorf("%s came as attempt %s, signature: %v", d.ID, d.attempt, d.refused)
			}
		}
		if len(other.all) != 0 {
			t.Errorf("%d deliveries to those who had not asked", len(other.all))
		}
		if n := sqlstoretest.Value[int](o, o.db, "SELECT count(*) FROM delivery d JOIN attempt a ON a.delivery_id = d.id WHERE d.state = 'delivered' AND d.attempts = 1 AND d.token = '' AND a.http_status = 200"); n != 2*events {
			t.Errorf("%d deliveries are recorded as delivered by one attempt, want %d", n, 2*events)
		}
	})
}

// clock is a clock that tests set.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMicro(c.at.Load()) }

func TestRetriesFollowSchedule(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		r := receive(t, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
		watch := &clock{}
		watch.at.Store(time.Now().UnixMicro())
		o := newFixture(t, db, nil, func(c *dispatch.Config) { c.Now = watch.now })
		a := o.account("a")
		id := o.subscribe(a, r.URL)
		o.run()
		o.appendEvent(a)
		// The documented schedule of retries.
		table := []time.Duration{10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
		for n, delay := range table {
			waitQuery(o, n+1, "SELECT COALESCE(max(attempts), 0) FROM delivery")
			sent := sqlstoretest.Value[int64](o, o.db, "SELECT at FROM attempt WHERE number = $1", n+1)
			due := sqlstoretest.Value[int64](o, o.db, "SELECT due_at FROM delivery WHERE state = 'waiting'")
			if got := time.Duration(due-sent) * time.Microsecond; got != delay {
				t.Errorf("attempt %d is due %s after the one before, want %s", n+2, got, delay)
			}
			watch.at.Store(due)
			o.Wake(id)
		}
		waitQuery(o, "failed", "SELECT state FROM delivery")
		if n := sqlstoretest.Value[int](o, o.db, "SELECT count(*) FROM attempt WHERE http_status = 410 AND stage = 'status'"); n != 8 {
			t.Errorf("%d attempts are recorded, want 8", n)
		}
		if n := sqlstoretest.Value[int](o, o.db, "SELECT count(*) FROM delivery WHERE attempts = 8 AND token = '' AND finished_at IS NOT NULL"); n != 1 {
			t.Error("the delivery is not finished after its 8 attempts")
		}
	})
}

// A receiver that does not reply delays no other.
func TestSlowReceiverDelaysNoOther(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := receive(t, false, func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-release:
		case <-req.Context().Done():
		}
	})
	defer close(release)
	good := receive(t, false, nil)
	patient := sender.New(sender.Config{Timeout: time.Hour}) // no attempt ends, so all that began are in flight
	o := newFixture(t, sqlstoretest.SQLite(t), nil, func(c *dispatch.Config) { c.Sender = patient })
	a, b := o.account("slow"), o.account("good")
	o.subscribe(a, slow.URL)
	o.subscribe(b, good.URL)
	o.run()
	for range 300 {
		o.appendEvent(a)
	}
	slow.wait(t, 1)
	for range 100 {
		o.appendEvent(b)
	}
	good.wait(t, 100)
	slow.mu.Lock()
	defer slow.mu.Unlock()
	if len(slow.all) > 8 {
		t.Errorf("%d attempts are at the slow receiver at once, more than 8", len(slow.all))
	}
}

// Deliveries of a paused subscription wait.
func TestPausedDeliveriesAreSentAfterResume(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		r := receive(t, false, nil)
		o := newFixture(t, db, nil)
		a := o.account("a")
		id := o.subscribe(a, r.URL)
		active := func(yes bool) {
			o.update(func(tx *sqlstore.Tx) error {
				_, _, err := o.book.Update(tx, schema.Owner{Account: a, World: schema.Live}, id, subscription.Patch{Active: &yes}, time.Now())
				return err
			})
		}
		active(false)
		o.run()
		for range 5 {
			o.appendEvent(a)
		}
		waitQuery(o, 5, "SELECT count(*) FROM delivery WHERE state = 'waiting' AND token = ''")
		active(true)
		r.wait(t, 5)
		o.waitSettled()
	})
}

// A stop waits for attempts in flight and releases the other leases, so that the next
// instance need not wait for them.
func TestStopReleasesLeases(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		held := make(chan struct{})
		var once sync.Once
		arrived := make(chan struct{})
		r := receive(t, false, func(http.ResponseWriter, *http.Request) {
			once.Do(func() { close(arrived) })
			<-held
		})
		o := newFixture(t, db, nil)
		a := o.account("a")
		o.subscribe(a, r.URL)
		stop := o.run()
		for range 50 {
			o.appendEvent(a)
		}
		<-arrived
		waitQuery(o, 0, "SELECT count(*) FROM outbox")
		go close(held)
		stop()
		if n := sqlstoretest.Value[int](o, o.db, "SELECT count(*) FROM delivery WHERE state = 'waiting' AND token <> ''"); n != 0 {
			t.Errorf("%d deliveries are leased by an instance that has stopped", n)
		}
		next := newFixture(t, db, nil)
		next.run()
		r.wait(t, 50)
		next.waitSettled()
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.all) != 50 {
			t.Errorf("%d attempts for 50 events", len(r.all))
		}
	})
}

// An event has more subscriptions than one transaction stores, and is accepted twice.
func TestAcceptIsIdempotentForManySubscriptions(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		o := newFixture(t, db, nil)
		a := o.account("a")
		const many = 1200
		o.update(func(tx *sqlstore.Tx) error {
			for i := range many {
				spec := subscription.Spec{
					Owner: schema.Owner{Account: a, World: schema.Live}, URL: fmt.Sprintf("http://127.0.0.1:9/%d", i),
					Events: []schema.EventType{schema.EventPaymentSucceeded}, Secret: secret,
				}
				if _, _, err := o.book.Create(tx, spec, time.Now()); err != nil {
					return err
				}
			}
			return nil
		})
		var event outbox.Event
		o.update(func(tx *sqlstore.Tx) (err error) {
			event, err = o.outbox.Store(tx, a, schema.Live, schema.EventPaymentSucceeded, payment())
			return err
		})
		for range 2 {
			if _, err := o.Publish(context.Background(), []outbox.Event{event}); err != nil {
				t.Fatal(err)
			}
		}
		if n := sqlstoretest.Value[int](o, o.db, "SELECT count(*) FROM delivery"); n != many {
			t.Errorf("%d deliveries, want one for each of %d subscriptions", n, many)
		}
	})
}

// A webhook gets only events after its creation, also after an offset reset.
func TestWebhookGetsNoOlderEvents(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		reg := prometheus.NewRegistry()
		o := newFixture(t, db, nil, func(c *dispatch.Config) { c.Metrics = reg })
		a := o.account("a")
		var event outbox.Event
		o.update(func(tx *sqlstore.Tx) (err error) {
			event, err = o.outbox.Store(tx, a, schema.Live, schema.EventPaymentSucceeded, payment())
			return err
		})
		there, late := o.subscribe(a, "http://127.0.0.1:9/there"), o.subscribe(a, "http://127.0.0.1:9/late")
		o.update(func(tx *sqlstore.Tx) error { // by a clock that is ahead
			for id, made := range map[string]time.Time{
				there: event.CreatedAt.Add(30 * time.Second), // by a clock that is ahead
				late:  event.CreatedAt.Add(2 * time.Minute),
			} {
				if _, err := tx.Exec("UPDATE webhook SET created_at = $1 WHERE id = $2", made.UnixMicro(), id); err != nil {
					return err
				}
			}
			return nil
		})
		if _, err := o.Publish(context.Background(), []outbox.Event{event}); err != nil {
			t.Fatal(err)
		}
		if got := sqlstoretest.Value[string](o, o.db, "SELECT webhook_id FROM delivery"); got != there {
			t.Errorf("the delivery is of %s, want %s alone", got, there)
		}
		if n := counted(t, reg, "vayu_webhook_older_total"); n != 1 {
			t.Errorf("%v deliveries are counted that were not made, want 1", n)
		}
	})
}

// Events from Kafka that the store lacks are rejected with a reason; the others are
// accepted.
func TestUnknownEventsAreRejected(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		o := newFixture(t, db, nil)
		a := o.account("a")
		o.subscribe(a, "http://127.0.0.1:9/")
		var known outbox.Event
		o.update(func(tx *sqlstore.Tx) (err error) {
			known, err = o.outbox.Store(tx, a, schema.Live, schema.EventPaymentSucceeded, payment())
			return err
		})
		const strange = "evt_01KAHJ9T6Z3M4Q5R6S7T8V9W0X"
		rejected, err := o.AcceptIDs(context.Background(), []string{strange, known.ID})
		if err != nil {
			t.Fatal(err)
		}
		if len(rejected) != 1 || rejected[strange] == nil {
			t.Errorf("got %v, want only the strange one rejected", rejected)
		}
		if got := sqlstoretest.Value[string](o, o.db, "SELECT event_id FROM delivery"); got != known.ID {
			t.Errorf("the delivery is of %s, want %s", got, known.ID)
		}
	})
}

// While the store rejects writes, outcomes wait, even beyond their leases, and nothing is
// sent again.
func TestOutcomesWaitForStore(t *testing.T) {
	t.Parallel()
	reg, watch := prometheus.NewRegistry(), &clock{}
	watch.at.Store(time.Now().UnixMicro())
	db := sqlstoretest.SQLite(t)
	var o *fixture
	r := receive(t, false, func(http.ResponseWriter, *http.Request) {
		o.update(func(tx *sqlstore.Tx) error { // recording fails from here on
			_, err := tx.Exec("ALTER TABLE attempt RENAME TO attempt_away")
			return err
		})
	})
	o = newFixture(t, db, nil, func(c *dispatch.Config) { c.Metrics, c.Now = reg, watch.now })
	a := o.account("a")
	id := o.subscribe(a, r.URL)
	o.run()
	o.appendEvent(a)
	r.wait(t, 1)
	fails := func() float64 { return counted(t, reg, "vayu_webhook_store_failures_total") }
	for fails() == 0 { // the test's own time-out ends this
		<-time.After(time.Millisecond)
	}
	watch.at.Add(time.Minute.Microseconds()) // longer than any lease
	o.Wake(id)
	for before := fails(); fails() == before; {
		<-time.After(time.Millisecond)
	}
	o.update(func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("ALTER TABLE attempt_away RENAME TO attempt")
		return err
	})
	waitQuery(o, "delivered", "SELECT state FROM delivery")
	for counted(t, reg, "vayu_webhook_deliveries_total") != 1 { // counted after the commit
		<-time.After(time.Millisecond)
	}
	if n := sqlstoretest.Value[int](o, o.db, "SELECT count(*) FROM attempt"); n != 1 {
		t.Errorf("%d attempts are recorded, want 1", n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) != 1 {
		t.Errorf("%d attempts were made, want 1", len(r.all))
	}
	if got := counted(t, reg, "vayu_webhook_stale_outcomes_total"); got != 0 {
		t.Errorf("%v stale outcomes are counted, want none", got)
	}
}

// An account with thousands of deliveries does not delay others.
func TestSmallFanOutComesFirst(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		o := newFixture(t, db, nil)
		heavy, light := o.account("heavy"), o.account("light")
		o.subscribe(light, "http://127.0.0.1:9/")
		for range 3 {
			o.update(func(tx *sqlstore.Tx) error {
				for range 500 {
					spec := subscription.Spec{
						Owner: schema.Owner{Account: heavy, World: schema.Live}, URL: "http://127.0.0.1:9/",
						Events: []schema.EventType{schema.EventPaymentSucceeded}, Secret: secret,
					}
					if _, _, err := o.book.Create(tx, spec, time.Now()); err != nil {
						return err
					}
				}
				return nil
			})
		}
		var batch []outbox.Event
		o.update(func(tx *sqlstore.Tx) error {
			for _, account := range []string{heavy, heavy, heavy, heavy, light} {
				event, err := o.outbox.Store(tx, account, schema.Live, schema.EventPaymentSucceeded, payment())
				if err != nil {
					return err
				}
				batch = append(batch, event)
			}
			return nil
		})
		safe, err := o.Publish(context.Background(), batch)
		switch {
		case !errors.Is(err, outbox.ErrYield):
			t.Fatalf("got error %v, want %v", err, outbox.ErrYield)
		case len(safe) != 4:
			t.Fatalf("len(safe) = %v, want 4", len(safe))
		case safe[0].ID != batch[4].ID:
			t.Fatalf("safe[0].ID = %v, want %v", safe[0].ID, batch[4].ID)
		case safe[1].ID != batch[0].ID:
			t.Fatalf("safe[1].ID = %v, want %v", safe[1].ID, batch[0].ID)
		}
		if n := sqlstoretest.Value[int](o, o.db, "SELECT count(*) FROM delivery"); n != 1+3*1500 {
			t.Errorf("%d deliveries are stored, want all of what is safe", n)
		}
		if safe, err := o.Publish(context.Background(), batch[3:4]); err != nil || len(safe) != 1 {
			t.Errorf("the rest: %d are safe, and %v", len(safe), err)
		}
	})
}

// A subscription that is deleted during the connect gets nothing, and no attempt is
// counted.
func TestUnsignedDeliveryIsNotSent(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		r := receive(t, false, nil)
		var o *fixture
		var a, id string
		o = newFixture(t, db, nil, func(c *dispatch.Config) {
			c.Sender = sender.New(sender.Config{Control: func(string, string, syscall.RawConn) error {
				o.update(func(tx *sqlstore.Tx) error {
					_, err := o.book.Delete(tx, schema.Owner{Account: a, World: schema.Live}, id, time.Now())
					return err
				})
				return o.book.Refresh(context.Background())
			}})
		})
		a = o.account("a")
		id = o.subscribe(a, r.URL)
		o.run()
		o.appendEvent(a)
		waitQuery(o, 1, "SELECT count(*) FROM webhook WHERE deleted_at IS NOT NULL")
		waitQuery(o, 1, "SELECT count(*) FROM delivery WHERE state = 'waiting' AND token = '' AND attempts = 0")
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.all) != 0 {
			t.Errorf("%d requests arrived", len(r.all))
		}
	})
}

// counted returns the sum of a counter.
func counted(t *testing.T, reg *prometheus.Registry, name string) (sum float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// The alert about a failing webhook goes to the account's other webhooks, not to the failing one.
func TestFailingWebhookGetsNoAlertAboutItself(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		r := receive(t, false, nil)
		o := newFixture(t, db, nil)
		account := o.account("a")
		var ids [2]string
		for i := range ids {
			o.update(func(tx *sqlstore.Tx) error {
				made, _, err := o.book.Create(tx, subscription.Spec{
					Owner: schema.Owner{Account: account, World: schema.Live}, URL: r.URL, Secret: secret, Events: []schema.EventType{schema.EventWebhookFailing},
				}, time.Now())
				ids[i] = made.Webhook.ID
				return err
			})
		}
		o.run()
		o.update(func(tx *sqlstore.Tx) error {
			_, err := o.outbox.Append(tx, account, schema.Live, schema.EventWebhookFailing, delivery.WebhookFailing{Webhook: ids[0]})
			return err
		})
		r.wait(t, 1)
		o.waitSettled()
		if got := sqlstoretest.Value[string](o, o.db, "SELECT webhook_id FROM delivery"); got != ids[1] {
			t.Errorf("the alert went to %s, want %s alone", got, ids[1])
		}
	})
}
