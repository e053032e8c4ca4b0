package dispatch_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"vayu/dispatch"
	"vayu/dispatch/kafka"
	"vayu/dispatch/outbox"
	"vayu/dispatch/sender"
	"vayu/dispatch/subscription"
	"vayu/dispatch/webhook"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// secret signs in these tests.
const secret = "whsec_of-these-tests"

// patience bounds every wait on a busy machine.
const patience = 5 * time.Minute

// fixture is one instance of outbox, dispatcher and, optionally, Kafka on a store.
type fixture struct {
	testing.TB
	*dispatch.Service

	db     *sqlstore.DB
	outbox *outbox.Outbox
	book   *subscription.Cache
	log    *kafka.Log // nil without Kafka
}

// newFixture returns a fixture that does not run.
func newFixture(tb testing.TB, db *sqlstore.DB, roots *x509.CertPool, change ...func(*dispatch.Config)) *fixture {
	tb.Helper()
	o := &fixture{TB: tb, db: db}
	box, err := encryption.Open(config.NewSecret(base64.StdEncoding.EncodeToString(make([]byte, 32))), "")
	if err != nil {
		tb.Fatal(err)
	}
	o.outbox = outbox.New(outbox.Config{DB: db})
	o.book = subscription.New(subscription.Config{DB: db, Cipher: box, Check: url.Parse, Timeout: time.Minute})
	settings := dispatch.DefaultSettings()
	c := dispatch.Config{
		Settings: settings, DB: db, Subscriptions: o.book,
		Sender: sender.New(sender.Config{Timeout: time.Minute, Roots: roots, PerHost: settings.InFlight, Idle: settings.InFlight}),
	}
	for _, f := range change {
		f(&c)
	}
	o.Service = dispatch.New(c)
	return o
}

// run starts the parts in the order of the service. stop, or the end of the test, stops
// them in reverse.
func (o *fixture) run() (stop func()) {
	o.Helper()
	var stops []func()
	begin := func(name string, run func(context.Context) error) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx) }()
		stops = append(stops, func() {
			cancel()
			if err := <-ended; err != nil {
				o.Errorf("%s ended with %v", name, err)
			}
		})
	}
	begin("subscriptions", o.book.Run)
	if err := o.book.Ready(context.Background()); err != nil {
		o.Fatal(err)
	}
	begin("dispatch", o.Run)
	var to outbox.Publisher = o.Service
	if o.log != nil {
		to = o.log
		begin("event log", func(ctx context.Context) error { return o.log.Consume(ctx, o.AcceptIDs) })
	}
	begin("outbox", func(ctx context.Context) error { return o.outbox.Run(ctx, to) })
	stop = sync.OnceFunc(func() {
		for _, stop := range slices.Backward(stops) {
			stop()
		}
	})
	o.Cleanup(stop)
	return stop
}

// waitQuery waits until a query returns a value.
func waitQuery[T comparable](o *fixture, want T, query string, args ...any) {
	o.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		got := sqlstoretest.Value[T](o, o.db, query, args...)
		if got == want {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			o.Fatalf("%s stays %v, want %v", query, got, want)
		}
	}
}

// account creates an account and returns its id.
func (o *fixture) account(name string) string {
	o.Helper()
	id := "acc_" + name
	o.update(func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $2, 'unlimited', '', 1, 1)", id, name)
		return err
	})
	return id
}

func (o *fixture) update(do func(tx *sqlstore.Tx) error) {
	o.Helper()
	if err := o.db.Update(context.Background(), do); err != nil {
		o.Fatal(err)
	}
}

// subscribe creates a subscription to payments and returns its id.
func (o *fixture) subscribe(account, url string) (id string) {
	o.Helper()
	o.update(func(tx *sqlstore.Tx) error {
		made, _, err := o.book.Create(tx, subscription.Spec{
			Owner: schema.Owner{Account: account, World: schema.Live}, URL: url,
			Events: []schema.EventType{schema.EventPaymentSucceeded}, Secret: secret,
		}, time.Now())
		id = made.Webhook.ID
		return err
	})
	return id
}

// appendEvent commits an event and returns its id.
func (o *fixture) appendEvent(account string) (id string) {
	o.Helper()
	o.update(func(tx *sqlstore.Tx) (err error) {
		id, err = o.outbox.Append(tx, account, schema.Live, schema.EventPaymentSucceeded, payment())
		return err
	})
	return id
}

// payment returns event data with the time of its commit.
func payment() map[string]any {
	return map[string]any{"payment_id": "pay_01", "amount": 499.5, "currency": "INR", "method": "upi", "at": time.Now().UnixNano()}
}

// arrival is a delivery at a receiver.
type arrival struct {
	schema.Envelope

	at      time.Time
	attempt string
	refused error // error of the verification
}

// receiver is an endpoint that counts deliveries.
type receiver struct {
	*httptest.Server

	mu     sync.Mutex
	seen   map[string]int // event -> attempts
	all    []arrival
	notify chan struct{}
}

// receive starts a receiver with HTTP or TLS. answer may be nil.
func receive(tb testing.TB, secure bool, answer http.HandlerFunc) *receiver {
	tb.Helper()
	r := &receiver{seen: map[string]int{}, notify: make(chan struct{}, 1)}
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		a := arrival{at: time.Now(), attempt: req.Header.Get("X-SERVICE-Attempt")}
		a.refused = webhook.Verify(body, req.Header.Get(webhook.Header), a.at, secret)
		_ = json.Unmarshal(body, &a.Envelope)
		r.mu.Lock()
		r.seen[a.ID]++
		r.all = append(r.all, a)
		r.mu.Unlock()
		select {
		case r.notify <- struct{}{}:
		default:
		}
		if answer != nil {
			answer(w, req)
		}
	})
	r.Server = httptest.NewUnstartedServer(handler)
	if secure {
		r.StartTLS()
	} else {
		r.Start()
	}
	tb.Cleanup(r.Close)
	return r
}

// wait waits for so many different events.
func (r *receiver) wait(tb testing.TB, events int) []arrival {
	tb.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		n, all := len(r.seen), r.all
		r.mu.Unlock()
		if n >= events {
			return all
		}
		select {
		case <-r.notify:
		case <-deadline:
			tb.Fatalf("%d events have arrived, want %d", n, events)
		}
	}
}

// waitSettled waits until no delivery waits.
func (o *fixture) waitSettled() {
	o.Helper()
	waitQuery(o, 0, "SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM delivery WHERE state = 'waiting')")
}
