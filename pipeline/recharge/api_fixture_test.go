package recharge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/outbox"
	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/recharge"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/sandbox"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// apiFixture is the API of a service with its store. An account has 1,000 rupees in each
// world; the sandbox has the sandbox provider, and the live world a pending one.
type apiFixture struct {
	*recharge.Service
	accesstest.Client

	t         *testing.T
	reg       *prometheus.Registry
	tenant    accesstest.Tenant
	access    *access.Service
	callbacks *transaction.Callbacks
	pending   *pendingProvider
}

// eachAPIFixture runs a test on both engines.
func eachAPIFixture(t *testing.T, do func(t *testing.T, d *apiFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newAPIFixture(t, db)) })
}

func newAPIFixture(t *testing.T, db *sqlstore.DB) *apiFixture {
	t.Helper()
	d := &apiFixture{t: t, reg: prometheus.NewRegistry(), tenant: accesstest.AddTenant(t, db, "shop"), pending: &pendingProvider{}}
	events := outbox.New(outbox.Config{DB: db})
	var err error
	d.Service, err = recharge.New(recharge.Config{
		Options:     transaction.Options{DB: db, Cipher: accesstest.ClaimedCipher(t, db), Events: events, Registry: d.reg},
		Settings:    recharge.Settings{BatchRoom: 8},
		Connections: []order.Connection{sandbox.Connection(nil), d.pending.connection("pending"), d.pending.connection("second")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.callbacks, err = transaction.NewCallbacks(d.reg, d.Callbacks()); err != nil {
		t.Fatal(err)
	}
	d.access = accesstest.Access(t, db, time.Now)
	d.Client = d.with()
	for _, w := range schema.Worlds {
		fund(t, db, d.tenant.In(w))
	}
	fixture.Run(t, d.Run)
	return d
}

// with returns an API with more routes.
func (d *apiFixture) with(more ...httpapi.Route) accesstest.Client {
	d.t.Helper()
	return accesstest.NewClient(d.t, d.access, append(append(d.Routes(), d.callbacks.Route()), more...))
}

// fund gives an account 1,000 rupees.
func fund(t *testing.T, db *sqlstore.DB, o schema.Owner) {
	t.Helper()
	sqlstoretest.Exec(t, db, "INSERT INTO wallet (account_id, mode, available, held) VALUES ($1, $2, 100000, 0)", o.Account, o.World.String())
}

// sandboxRequest sends a request in the sandbox.
func (d *apiFixture) sandboxRequest(method, path, body string, header ...string) accesstest.Reply {
	d.t.Helper()
	return d.Client.Do(d.tenant.Keys[schema.Sandbox], method, path, body, header...)
}

// liveRequest sends a request in the live world.
func (d *apiFixture) liveRequest(method, path, body string, header ...string) accesstest.Reply {
	d.t.Helper()
	return d.Client.Do(d.tenant.Keys[schema.Live], method, path, body, header...)
}

// orderFor returns a request body for a mobile number.
func orderFor(mobile, ref string, amount string) string {
	return fmt.Sprintf(`{"mobile":%q,"operator":"auto","amount":%s,"type":"prepaid","ref_id":%q}`, mobile, amount, ref)
}

// count returns the number of stored recharges.
func (d *apiFixture) count() (n int) {
	d.t.Helper()
	if err := d.DB.View(d.t.Context()).QueryRow("SELECT COUNT(*) FROM recharge").Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// metric returns the value of a metric.
func (d *apiFixture) metric(name string, labels ...string) float64 {
	d.t.Helper()
	return fixture.MetricValue(d.t, d.reg, name, labels...)
}

// read checks the status of a reply and decodes it.
func read[T any](t *testing.T, r accesstest.Reply, status int) (v T) {
	t.Helper()
	if r.Status != status {
		t.Fatalf("got %d %s, want %d", r.Status, r.Text, status)
	}
	if err := json.Unmarshal([]byte(r.Text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// pendingProvider answers every order with pending until a callback. It serves Airtel, and
// has plans unless it is away.
type pendingProvider struct {
	away   atomic.Bool
	closed atomic.Bool
}

func (c *pendingProvider) connection(name string) order.Connection {
	return order.Connection{
		Link: transaction.Link{
			Name: name, World: schema.Live, Timeout: time.Second, ResendAfter: time.Minute, Concurrency: 8, Available: func() bool { return !c.closed.Load() },
		},
		Operators: []string{"Airtel"}, Operator: c, Directory: c, Receiver: c,
	}
}

func (*pendingProvider) Submit(context.Context, order.Order) (order.Answer, error) {
	return order.Answer{Outcome: order.Pending}, nil
}

func (*pendingProvider) Enquire(context.Context, order.Order) (order.Answer, error) {
	return order.Answer{Outcome: order.Pending}, nil
}

var errAway = errors.New("no route to 10.1.2.3")

func (c *pendingProvider) Detect(context.Context, string) (order.Subscriber, error) {
	if c.away.Load() {
		return order.Subscriber{}, errAway
	}
	return order.Subscriber{}, nil
}

func (c *pendingProvider) Plans(context.Context, string, string) ([]schema.Plan, error) {
	if c.away.Load() {
		return nil, errAway
	}
	return nil, nil
}

// Receive decodes a callback with a reference and a result, if the password is right.
func (*pendingProvider) Receive(header http.Header, body []byte, _ time.Time) (transaction.Message[order.Answer], error) {
	if header.Get("X-Password") != "sesame" {
		return transaction.Message[order.Answer]{}, schema.NewProblem(schema.SignatureInvalid, "X-Password", "The password is wrong.")
	}
	var callback struct{ Reference, Word string }
	if err := json.Unmarshal(body, &callback); err != nil {
		return transaction.Message[order.Answer]{}, schema.NewProblem(schema.InvalidRequest, "", "This is not understood.")
	}
	outcome := map[string]order.Outcome{"done": order.Succeeded, "failed": order.Failed, "back": order.Reversed, "gibberish": -1}[strings.ToLower(callback.Word)]
	return transaction.Message[order.Answer]{Reference: callback.Reference, Answer: order.Answer{Outcome: outcome, Code: schema.OperatorNetworkError}}, nil
}
