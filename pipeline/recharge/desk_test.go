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
	"vayu/pipeline/recharge/sandbox"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// desk is the endpoints of a service with its store: an account that has 1,000
// rupees in each world, the sandbox, and a courier in the live world.
type desk struct {
	*recharge.Service
	accesstest.Door

	t       *testing.T
	reg     *prometheus.Registry
	tenant  accesstest.Tenant
	access  *access.Service
	told    *upstream.Callbacks
	courier *courier
}

// eachDesk runs a test on both engines.
func eachDesk(t *testing.T, do func(t *testing.T, d *desk)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newDesk(t, db)) })
}

func newDesk(t *testing.T, db *sqlstore.DB) *desk {
	t.Helper()
	d := &desk{t: t, reg: prometheus.NewRegistry(), tenant: accesstest.AddTenant(t, db, "shop"), courier: &courier{}}
	events, err := outbox.New(outbox.Config{DB: db})
	if err != nil {
		t.Fatal(err)
	}
	d.Service, err = recharge.New(recharge.Config{
		DB: db, Box: accesstest.ClaimedBox(t, db), Events: events, Metrics: d.reg, BatchShare: 8,
		Connections: []recharge.Connection{sandbox.Connection(nil), d.courier.connection("courier"), d.courier.connection("second")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.told, err = upstream.NewCallbacks(d.reg, d.Callbacks()); err != nil {
		t.Fatal(err)
	}
	d.access = accesstest.Access(t, db, time.Now)
	d.Door = d.with()
	for _, w := range schema.Worlds {
		fund(t, db, d.tenant.In(w))
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the service ended with %v", err)
		}
	})
	return d
}

// with is a door to more routes.
func (d *desk) with(more ...httpapi.Route) accesstest.Door {
	d.t.Helper()
	return accesstest.NewDoor(d.t, d.access, append(append(d.Routes(), d.told.Route()), more...))
}

// fund gives an account 1,000 rupees.
func fund(t *testing.T, db *sqlstore.DB, o schema.Owner) {
	t.Helper()
	run(t, db, "INSERT INTO wallet (account_id, mode, available, held) VALUES ($1, $2, 100000, 0)", o.Account, o.World.String())
}

// run runs a statement.
func run(t *testing.T, db *sqlstore.DB, query string, args ...any) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ask asks in the sandbox.
func (d *desk) ask(method, path, body string, header ...string) accesstest.Reply {
	d.t.Helper()
	return d.Ask(d.tenant.Keys[schema.Sandbox], method, path, body, header...)
}

// live asks in the live world.
func (d *desk) live(method, path, body string, header ...string) accesstest.Reply {
	d.t.Helper()
	return d.Ask(d.tenant.Keys[schema.Live], method, path, body, header...)
}

// orderFor is a body for a mobile number.
func orderFor(mobile, ref string, amount string) string {
	return fmt.Sprintf(`{"mobile":%q,"operator":"auto","amount":%s,"type":"prepaid","ref_id":%q}`, mobile, amount, ref)
}

// count is how many rows of recharges there are.
func (d *desk) count() (n int) {
	d.t.Helper()
	if err := d.DB.View(d.t.Context()).QueryRow("SELECT COUNT(*) FROM recharge").Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// figure is a counter of the service's.
func (d *desk) figure(name string, labels ...string) float64 {
	d.t.Helper()
	return fixture.Figure(d.t, d.reg, name, labels...)
}

// read reads a reply of a status.
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

// courier is a provider that takes every order and says nothing of it by itself
// until it is told to. It serves Airtel, and knows plans unless it is away.
type courier struct {
	away   atomic.Bool
	closed atomic.Bool
}

func (c *courier) connection(name string) recharge.Connection {
	return recharge.Connection{
		Name: name, World: schema.Live, Operators: []string{"Airtel"}, Timeout: time.Second, ResendAfter: time.Minute, Concurrency: 8,
		Operator: c, Directory: c, Receiver: c, Available: func() bool { return !c.closed.Load() },
	}
}

func (*courier) Submit(context.Context, recharge.Order) (recharge.Answer, error) {
	return recharge.Answer{Outcome: recharge.Pending}, nil
}

func (*courier) Enquire(context.Context, recharge.Order) (recharge.Answer, error) {
	return recharge.Answer{Outcome: recharge.Pending}, nil
}

var errAway = errors.New("nobody is at home at 10.1.2.3")

func (c *courier) Detect(context.Context, string) (recharge.Subscriber, error) {
	if c.away.Load() {
		return recharge.Subscriber{}, errAway
	}
	return recharge.Subscriber{}, nil
}

func (c *courier) Plans(context.Context, string, string) ([]schema.Plan, error) {
	if c.away.Load() {
		return nil, errAway
	}
	return nil, nil
}

// Receive takes "reference word", with the right password.
func (*courier) Receive(header http.Header, body []byte, _ time.Time) (recharge.Told, error) {
	if header.Get("X-Password") != "sesame" {
		return recharge.Told{}, schema.Refuse(schema.SignatureInvalid, "X-Password", "The password is wrong.")
	}
	var said struct{ Reference, Word string }
	if err := json.Unmarshal(body, &said); err != nil {
		return recharge.Told{}, schema.Refuse(schema.InvalidRequest, "", "This is not understood.")
	}
	outcome := map[string]recharge.Outcome{"done": recharge.Succeeded, "failed": recharge.Failed, "back": recharge.Reversed, "gibberish": -1}[strings.ToLower(said.Word)]
	return recharge.Told{Reference: said.Reference, Answer: recharge.Answer{Outcome: outcome, Code: schema.OperatorNetworkError}}, nil
}
