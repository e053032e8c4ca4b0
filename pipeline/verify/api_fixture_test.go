package verify_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
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
	"vayu/pipeline/batch"
	"vayu/pipeline/upstream"
	"vayu/pipeline/verify"
	"vayu/pipeline/verify/sandbox"
	"vayu/schema"
)

// desk is the endpoints of a service with its store: an account, the sandbox, and a
// clerk in the live world.
type desk struct {
	*verify.Service
	accesstest.Door

	t      *testing.T
	reg    *prometheus.Registry
	tenant accesstest.Tenant
	clerk  *clerk
	router http.Handler // whose replies nobody looks at
}

// eachDesk runs a test on both engines.
func eachDesk(t *testing.T, do func(t *testing.T, d *desk)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newDesk(t, db, nil)) })
}

func newDesk(t *testing.T, db *sqlstore.DB, now func() time.Time) *desk {
	t.Helper()
	d := &desk{t: t, reg: prometheus.NewRegistry(), tenant: accesstest.AddTenant(t, db, "shop"), clerk: &clerk{}}
	box := accesstest.Box(t)
	if err := box.Claim(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	events, err := outbox.New(outbox.Config{DB: db, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	d.Service, err = verify.New(verify.Config{
		DB: db, Box: box, Events: events, Metrics: d.reg, Settings: verify.DefaultSettings(), Now: now,
		PublicURL: func() string { return "https://api.example.com" },
		Connections: []verify.Connection{sandbox.Connection(now), {
			Name: "clerk", World: schema.Live, Timeout: time.Second, ResendAfter: time.Minute, Concurrency: 8, Bank: d.clerk, Receiver: d.clerk,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	callbacks, err := upstream.NewCallbacks(d.reg, d.Callbacks())
	if err != nil {
		t.Fatal(err)
	}
	access := accesstest.Access(t, db, time.Now)
	batches := d.batches(access, now)
	routes := append(append(d.Routes(), callbacks.Route()), batches.Routes()...)
	d.Door = accesstest.NewDoor(t, access, routes)
	if d.router, err = httpapi.New(httpapi.Config{Routes: routes, Access: access}); err != nil {
		t.Fatal(err)
	}
	d.runs(d.Run)
	d.runs(batches.Run)
	return d
}

// batches are those of verifications.
func (d *desk) batches(access *access.Service, now func() time.Time) *batch.Service {
	d.t.Helper()
	s, err := batch.New(batch.Config{DB: d.DB, Box: d.Box, Change: access.Change, Kinds: []batch.Kind{d.BatchKind()}, Now: now})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// runs has something run until the test ends.
func (d *desk) runs(run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	d.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			d.t.Errorf("it ended with %v", err)
		}
	})
}

// callBank asks in the sandbox.
func (d *desk) ask(method, path, body string, header ...string) accesstest.Reply {
	d.t.Helper()
	return d.Ask(d.tenant.Keys[schema.Sandbox], method, path, body, header...)
}

// live asks in the live world.
func (d *desk) live(method, path, body string, header ...string) accesstest.Reply {
	d.t.Helper()
	return d.Ask(d.tenant.Keys[schema.Live], method, path, body, header...)
}

// hangUp asks in the sandbox, and goes after a time without having read the reply.
func (d *desk) hangUp(body string, after time.Duration) {
	d.t.Helper()
	ctx, gone := context.WithTimeout(context.Background(), after)
	defer gone()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/bank/verify", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+d.tenant.Keys[schema.Sandbox])
	d.router.ServeHTTP(httptest.NewRecorder(), r)
}

// callNone are the events about a verification, in their order.
func (d *desk) told(id string) (types []string) {
	d.t.Helper()
	err := sqlstore.Each(d.DB.View(context.Background()), func(row sqlstore.Scanner) error {
		var typ string
		var envelope []byte
		if err := row.Scan(&typ, &envelope); err != nil {
			return err
		}
		var e struct {
			Data struct {
				VerificationID string `json:"verification_id"`
			}
		}
		err := json.Unmarshal(envelope, &e)
		if e.Data.VerificationID == id {
			types = append(types, typ)
		}
		return err
	}, "SELECT type, envelope FROM event ORDER BY id")
	if err != nil {
		d.t.Fatal(err)
	}
	return types
}

// figure is a metric.
func (d *desk) figure(name string, labels ...string) float64 {
	d.t.Helper()
	return fixture.Figure(d.t, d.reg, name, labels...)
}

// read reads a reply of a status.
func read[T any](t *testing.T, r accesstest.Reply, status int) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Want(t, "a reply", status).Text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// clerk is a bank that takes every deposit and says nothing of it by itself until it
// is told to.
type clerk struct{}

func (*clerk) Deposit(context.Context, verify.Order) (verify.Answer, error) {
	return verify.Answer{Outcome: verify.Pending}, nil
}

func (*clerk) Enquire(context.Context, verify.Order) (verify.Answer, error) {
	return verify.Answer{Outcome: verify.Pending}, nil
}

// Resolve cannot be reached.
func (*clerk) Resolve(context.Context, verify.Order) (verify.Answer, error) {
	return verify.Answer{}, verify.ErrNotSent
}

// Receive takes "reference word", with the right password.
func (*clerk) Receive(header http.Header, body []byte, _ time.Time) (verify.Told, error) {
	if header.Get("X-Password") != "sesame" {
		return verify.Told{}, schema.Refuse(schema.SignatureInvalid, "X-Password", "The password is wrong.")
	}
	var said struct{ Reference, Word string }
	if err := json.Unmarshal(body, &said); err != nil {
		return verify.Told{}, schema.Refuse(schema.InvalidRequest, "", "This is not understood.")
	}
	outcome := map[string]verify.Outcome{"found": verify.Found, "missing": verify.NotFound, "gibberish": -1}[said.Word]
	return verify.Told{Reference: said.Reference, Answer: verify.Answer{
		Outcome: outcome, Account: verify.Account{Name: "RAHUL SHARMA", Status: schema.AccountActive, Reasons: []string{verify.MuleAccount}},
	}}, nil
}
