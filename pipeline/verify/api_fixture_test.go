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
	"vayu/pipeline/batch/item"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/sandbox"
	"vayu/schema"
)

// apiFixture serves the endpoints with a store, an account, the sandbox, and a callbackBank in
// the live world.
type apiFixture struct {
	*verify.Service
	accesstest.Client

	t      *testing.T
	reg    *prometheus.Registry
	tenant accesstest.Tenant
	clerk  *callbackBank
	router http.Handler // for requests whose replies are ignored
}

// eachStore runs a test on both engines.
func eachStore(t *testing.T, do func(t *testing.T, d *apiFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newAPIFixture(t, db, nil)) })
}

func newAPIFixture(t *testing.T, db *sqlstore.DB, now func() time.Time) *apiFixture {
	t.Helper()
	d := &apiFixture{t: t, reg: prometheus.NewRegistry(), tenant: accesstest.AddTenant(t, db, "shop"), clerk: &callbackBank{}}
	events := outbox.New(outbox.Config{DB: db, Now: now})
	var err error
	d.Service, err = verify.New(verify.Config{
		Options: transaction.Options{DB: db, Cipher: accesstest.ClaimedCipher(t, db), Events: events, Registry: d.reg, Now: now}, Settings: verify.DefaultSettings(),
		PublicURL: func() string { return "https://api.example.com" },
		Connections: []bank.Connection{sandbox.Connection(now), {
			Link: transaction.Link{Name: "clerk", World: schema.Live, Timeout: time.Second, ResendAfter: time.Minute, Concurrency: 8}, Bank: d.clerk, Receiver: d.clerk,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	callbacks, err := transaction.NewCallbacks(d.reg, d.Callbacks())
	if err != nil {
		t.Fatal(err)
	}
	access := accesstest.Access(t, db, time.Now)
	batches := d.batches(access, now)
	routes := append(append(d.Routes(), callbacks.Route()), batches.Routes()...)
	d.Client = accesstest.NewClient(t, access, routes)
	if d.router, err = httpapi.New(httpapi.Config{Routes: routes, Access: access}); err != nil {
		t.Fatal(err)
	}
	fixture.Run(t, d.Run)
	fixture.Run(t, batches.Run)
	return d
}

// batches returns the batch service.
func (d *apiFixture) batches(access *access.Service, now func() time.Time) *batch.Service {
	d.t.Helper()
	s, err := batch.New(batch.Config{DB: d.DB, Cipher: d.Cipher, Change: access.Change, Kinds: []item.Kind{d.BatchKind()}, Now: now})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// sandbox sends a request to the sandbox.
func (d *apiFixture) sandbox(method, path, body string, header ...string) accesstest.Reply {
	d.t.Helper()
	return d.Client.Do(d.tenant.Keys[schema.Sandbox], method, path, body, header...)
}

// live sends a request to the live world.
func (d *apiFixture) live(method, path, body string, header ...string) accesstest.Reply {
	d.t.Helper()
	return d.Client.Do(d.tenant.Keys[schema.Live], method, path, body, header...)
}

// disconnect sends a request to the sandbox and closes the connection after a time.
func (d *apiFixture) disconnect(body string, after time.Duration) {
	d.t.Helper()
	ctx, gone := context.WithTimeout(context.Background(), after)
	defer gone()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/bank/verify", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+d.tenant.Keys[schema.Sandbox])
	d.router.ServeHTTP(httptest.NewRecorder(), r)
}

// eventTypes returns the events of a verification, in order.
func (d *apiFixture) eventTypes(id string) (types []string) {
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

// metric returns the value of a metric.
func (d *apiFixture) metric(name string, labels ...string) float64 {
	d.t.Helper()
	return fixture.MetricValue(d.t, d.reg, name, labels...)
}

// read decodes a reply with a status.
func read[T any](t *testing.T, r accesstest.Reply, status int) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Want(t, "a reply", status).Text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// callbackBank accepts every deposit and settles by callbacks.
type callbackBank struct{}

func (*callbackBank) Deposit(context.Context, bank.Order) (bank.Answer, error) {
	return bank.Answer{Outcome: bank.Pending}, nil
}

func (*callbackBank) Enquire(context.Context, bank.Order) (bank.Answer, error) {
	return bank.Answer{Outcome: bank.Pending}, nil
}

// Resolve fails: the bank is unreachable.
func (*callbackBank) Resolve(context.Context, bank.Order) (bank.Answer, error) {
	return bank.Answer{}, httpconnector.ErrNotSent
}

// Receive accepts "reference outcome" with the right password.
func (*callbackBank) Receive(header http.Header, body []byte, _ time.Time) (transaction.Message[bank.Answer], error) {
	if header.Get("X-Password") != "sesame" {
		return transaction.Message[bank.Answer]{}, schema.NewProblem(schema.SignatureInvalid, "X-Password", "The password is wrong.")
	}
	var sent struct{ Reference, Word string }
	if err := json.Unmarshal(body, &sent); err != nil {
		return transaction.Message[bank.Answer]{}, schema.NewProblem(schema.InvalidRequest, "", "The body is invalid.")
	}
	outcome := map[string]bank.Outcome{"found": bank.Found, "missing": bank.NotFound, "gibberish": -1}[sent.Word]
	return transaction.Message[bank.Answer]{Reference: sent.Reference, Answer: bank.Answer{
		Outcome: outcome, Account: bank.Account{Name: "RAHUL SHARMA", Status: schema.AccountActive, Reasons: []string{bank.MuleAccount}},
	}}, nil
}
