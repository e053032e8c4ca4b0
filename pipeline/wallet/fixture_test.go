package wallet

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// noon is the default time of tests.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// addAccount creates an account and returns its live owner.
func addAccount(t testing.TB, db *sqlstore.DB, name string) schema.Owner {
	t.Helper()
	return accesstest.AddTenant(t, db, name).In(schema.Live)
}

// fund credits a payment to an owner.
func fund(t testing.TB, db *sqlstore.DB, o schema.Owner, subject string, amount schema.Paise) {
	t.Helper()
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
		_, err := topup(tx, noon, o, subject, amount)
		return err
	})
}

// wantBalance checks the balance of an owner.
func wantBalance(t testing.TB, db *sqlstore.DB, what string, o schema.Owner, want Balance) {
	t.Helper()
	got, err := BalanceOf(db.View(context.Background()), o)
	if err != nil || got != want {
		t.Errorf("%s: got %+v, %v; want %+v", what, got, err, want)
	}
}

// eachFunded runs a test on both engines with a funded account.
func eachFunded(t *testing.T, amount schema.Paise, run func(t *testing.T, db *sqlstore.DB, o schema.Owner)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		o := addAccount(t, db, "one")
		if amount > 0 {
			fund(t, db, o, "pay_0", amount)
		}
		run(t, db, o)
	})
}

// walletFixture is a service behind a router, with two tenants.
type walletFixture struct {
	*Service
	accesstest.Client

	outbox *outbox.Outbox
	clock  *fixture.Clock
	reg    *prometheus.Registry
	log    *fixture.Log
	one    accesstest.Tenant
	two    accesstest.Tenant
}

func newFixture(t testing.TB, db *sqlstore.DB) *walletFixture {
	t.Helper()
	s := &walletFixture{clock: &fixture.Clock{}, reg: prometheus.NewRegistry(), log: &fixture.Log{}}
	s.clock.Set(noon)
	s.one, s.two = accesstest.AddTenant(t, db, "one"), accesstest.AddTenant(t, db, "two")
	access := accesstest.Access(t, db, s.clock.Now)
	s.outbox = outbox.New(outbox.Config{DB: db, Now: s.clock.Now})
	s.Service = New(Config{
		DB: db, Events: s.outbox, Change: access.Change, Log: s.log.Logger(), Metrics: s.reg, Now: s.clock.Now,
	})
	s.Client = accesstest.NewClient(t, access, slices.Concat(s.Routes(), s.outbox.Routes(), access.Routes()))
	return s
}

// eachStore runs a test on both engines.
func eachStore(t *testing.T, run func(t *testing.T, s *walletFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { run(t, newFixture(t, db)) })
}

// key returns a key of the first tenant.
func (s *walletFixture) key(w schema.World) string { return s.one.Keys[w] }

// metric returns the value of a counter.
func (s *walletFixture) metric(t testing.TB, name string, labels ...string) float64 {
	t.Helper()
	return fixture.MetricValue(t, s.reg, name, labels...)
}

// wantConsistent checks that the ledger check finds no fault.
func wantConsistent(t testing.TB, db *sqlstore.DB) Report {
	t.Helper()
	r, err := Verify(t.Context(), db, "")
	if err != nil || r.FaultCount != 0 {
		t.Errorf("the books: %v, %v", r.Faults, err)
	}
	return r
}
