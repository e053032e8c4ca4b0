package recharge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// noon is when tests begin.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// puppet is a provider that says what a test has it say. What it is not told to say
// is that it has carried everything out.
type puppet struct {
	mu                       sync.Mutex
	submit, enquire, reverse func(Order) (Answer, error)
	detect                   func(number string) (Subscriber, error)
	heard                    []string // "submit txn_…", in their order
	away                     bool
}

func (p *puppet) call(name string, o Order, say *func(Order) (Answer, error)) (Answer, error) {
	p.mu.Lock()
	p.heard = append(p.heard, name+" "+o.Operator)
	do := *say
	p.mu.Unlock()
	if do == nil {
		return Answer{Outcome: Succeeded, ProviderRef: "theirs"}, nil
	}
	return do(o)
}

func (p *puppet) Submit(_ context.Context, o Order) (Answer, error) {
	return p.call("submit", o, &p.submit)
}

func (p *puppet) Enquire(_ context.Context, o Order) (Answer, error) {
	return p.call("enquire", o, &p.enquire)
}

func (p *puppet) Reverse(_ context.Context, o Order) (Answer, error) {
	return p.call("reverse", o, &p.reverse)
}

func (p *puppet) Detect(_ context.Context, number string) (Subscriber, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, "detect")
	if p.detect == nil {
		return Subscriber{}, nil
	}
	return p.detect(number)
}

func (p *puppet) Plans(context.Context, string, string) ([]schema.Plan, error) { return nil, nil }

func (p *puppet) available() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.away
}

// set changes what it says.
func (p *puppet) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// calls are what it has heard since the last time.
func (p *puppet) calls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	heard := p.heard
	p.heard = nil
	return heard
}

// says is an answer that is always the same.
func says(a Answer) func(Order) (Answer, error) {
	return func(Order) (Answer, error) { return a, nil }
}

// fails is a call that ends with an error.
func fails(err error) func(Order) (Answer, error) {
	return func(Order) (Answer, error) { return Answer{}, err }
}

var errLost = errors.New("the answer was lost")

// stage is a service with its store, a clock, an account with 1,000 rupees in the
// live world, and a puppet. It does not run: tests have it look.
type stage struct {
	*Service

	t      testing.TB
	reg    *prometheus.Registry
	clock  *fixture.Clock
	puppet *puppet
	tenant accesstest.Tenant
	owner  schema.Owner
	refs   int
}

func eachStage(t *testing.T, do func(t *testing.T, s *stage)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newStage(t, db)) })
}

// connection is how the puppet is connected.
func (p *puppet) connection() Connection {
	return Connection{
		Name: "puppet", World: schema.Live, Timeout: 10 * time.Second, ResendAfter: time.Minute, Concurrency: 4,
		Operator: p, Reverser: p, Directory: p, Available: p.available,
	}
}

func newStage(t testing.TB, db *sqlstore.DB, more ...Connection) *stage {
	t.Helper()
	s := &stage{t: t, clock: &fixture.Clock{}, puppet: &puppet{}}
	s.clock.Set(noon)
	s.tenant = accesstest.AddTenant(t, db, "shop")
	s.owner = s.tenant.In(schema.Live)
	s.open(db, more...)
	books, err := wallet.New(wallet.Config{DB: db, Events: s.Events, Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := books.Credit(t.Context(), s.owner, 1000_00, "UTR1", "test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.verify)
	return s
}

// open makes the service, or another one as after a kill: what the one before had
// under way is as it stands in the store.
func (s *stage) open(db *sqlstore.DB, more ...Connection) {
	s.t.Helper()
	events, err := outbox.New(outbox.Config{DB: db, Now: s.clock.Now})
	if err != nil {
		s.t.Fatal(err)
	}
	s.reg = prometheus.NewRegistry()
	s.Service, err = New(Config{
		DB: db, Box: accesstest.ClaimedBox(s.t, db), Events: events, Metrics: s.reg, Now: s.clock.Now, MaskAfter: 180 * day,
		Connections: append([]Connection{s.puppet.connection()}, more...), BatchShare: 4,
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// verify proves the books.
func (s *stage) verify() {
	report, err := wallet.Verify(context.Background(), s.DB, "")
	if err != nil || report.Wrong != 0 {
		s.t.Errorf("the books: %v, %v", report.Faults, err)
	}
}

// request is one for 100 rupees with a ref_id of its own.
func (s *stage) request() Request {
	s.refs++
	return Request{
		Owner: s.owner, RefID: fmt.Sprint("ref-", s.refs), Type: schema.Prepaid, Number: "9810012345", Valid: true, Asked: "Airtel", Amount: 100_00,
		By: httpapi.Who{Key: "key_1", Request: "req_1", Client: "192.0.2.1"},
	}
}

// do makes a recharge, and waits until its call has ended.
func (s *stage) do(r Request) Record {
	s.t.Helper()
	rec, replayed, err := s.Do(s.t.Context(), r, 0)
	if err != nil || replayed {
		s.t.Fatalf("got %+v, %v, %v", rec, replayed, err)
	}
	s.calls.Wait()
	return s.see(rec.ID)
}

// see is how a recharge stands.
func (s *stage) see(id string) Record {
	s.t.Helper()
	r, err := s.Find(context.Background(), s.owner, id)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// turn lets so much time pass, has every connection looked at, and waits until the
// calls have ended.
func (s *stage) turn(d time.Duration) {
	s.t.Helper()
	s.clock.Pass(d)
	for _, l := range s.lines {
		s.calls.Look(s.t.Context(), l.Line)
	}
	s.calls.Wait()
}

// events are the types of events of the account's recharges, in their order.
func (s *stage) events() []string {
	s.t.Helper()
	all, err := sqlstore.All(s.DB.View(s.t.Context()), scanText, "SELECT type FROM event WHERE account_id = $1 AND type LIKE 'recharge.%' ORDER BY id", s.owner.Account)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// audited are the actions and actors of the account's audit log about recharges.
func (s *stage) audited() []string {
	s.t.Helper()
	all, err := sqlstore.All(s.DB.View(s.t.Context()), scanText,
		"SELECT action || ' ' || actor FROM audit WHERE account_id = $1 AND action LIKE 'recharge.%' ORDER BY seq", s.owner.Account)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// balance demands what the account can spend and what is held.
func (s *stage) balance(available, held schema.Paise) {
	s.t.Helper()
	got, err := wallet.BalanceOf(s.DB.View(s.t.Context()), s.owner)
	if want := (wallet.Balance{Available: available, Held: held}); err != nil || got != want {
		s.t.Errorf("the account has %+v, %v; want %+v", got, err, want)
	}
}

// figure is a metric.
func (s *stage) figure(name string, labels ...string) float64 {
	s.t.Helper()
	return fixture.Figure(s.t, s.reg, name, labels...)
}

// dueIn is how long it is until a recharge is looked at; negative for never.
func (s *stage) dueIn(id string) time.Duration {
	s.t.Helper()
	var due int64
	if err := s.DB.View(s.t.Context()).QueryRow("SELECT COALESCE(due_at, 0) FROM recharge WHERE id = $1", id).Scan(&due); err != nil {
		s.t.Fatal(err)
	}
	return time.UnixMicro(due).Sub(s.clock.Now())
}

// refusedAs demands a refusal.
func refusedAs(t testing.TB, err error, code schema.Code, field string) *schema.Problem {
	t.Helper()
	p, ok := errors.AsType[*schema.Problem](err)
	if !ok || p.Code != code || p.Field != field {
		t.Fatalf("got %v, want %s about %q", err, code, field)
	}
	return p
}
