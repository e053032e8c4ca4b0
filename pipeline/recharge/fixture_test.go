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
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/transaction"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// noon is the start time of tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// fakeProvider is a provider with scripted answers. The default answer is success.
type fakeProvider struct {
	mu                       sync.Mutex
	submit, enquire, reverse func(order.Order) (order.Answer, error)
	detect                   func(number string) (order.Subscriber, error)
	received                 []string // "submit txn_…", in order
	away                     bool
}

func (p *fakeProvider) call(name string, o order.Order, say *func(order.Order) (order.Answer, error)) (order.Answer, error) {
	p.mu.Lock()
	p.received = append(p.received, name+" "+o.Operator)
	do := *say
	p.mu.Unlock()
	if do == nil {
		return order.Answer{Outcome: order.Succeeded, ProviderRef: "theirs"}, nil
	}
	return do(o)
}

func (p *fakeProvider) Submit(_ context.Context, o order.Order) (order.Answer, error) {
	return p.call("submit", o, &p.submit)
}

func (p *fakeProvider) Enquire(_ context.Context, o order.Order) (order.Answer, error) {
	return p.call("enquire", o, &p.enquire)
}

func (p *fakeProvider) Reverse(_ context.Context, o order.Order) (order.Answer, error) {
	return p.call("reverse", o, &p.reverse)
}

func (p *fakeProvider) Detect(_ context.Context, number string) (order.Subscriber, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, "detect")
	if p.detect == nil {
		return order.Subscriber{}, nil
	}
	return p.detect(number)
}

func (p *fakeProvider) Plans(context.Context, string, string) ([]schema.Plan, error) { return nil, nil }

func (p *fakeProvider) available() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.away
}

// set changes the script.
func (p *fakeProvider) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// calls returns the calls received since the last time.
func (p *fakeProvider) calls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	received := p.received
	p.received = nil
	return received
}

// answers returns a call that always returns a.
func answers(a order.Answer) func(order.Order) (order.Answer, error) {
	return func(order.Order) (order.Answer, error) { return a, nil }
}

// fails returns a call that always fails.
func fails(err error) func(order.Order) (order.Answer, error) {
	return func(order.Order) (order.Answer, error) { return order.Answer{}, err }
}

var errLost = errors.New("the answer was lost")

// serviceFixture is a service with its store, a clock, an account with 1,000 rupees in the
// live world, and a fake provider. It does not run: tests poll.
type serviceFixture struct {
	*Service

	t      testing.TB
	reg    *prometheus.Registry
	clock  *fixture.Clock
	fake   *fakeProvider
	tenant accesstest.Tenant
	owner  schema.Owner
	refs   int
}

func eachServiceFixture(t *testing.T, do func(t *testing.T, s *serviceFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newServiceFixture(t, db)) })
}

func (p *fakeProvider) connection() order.Connection {
	return order.Connection{
		Link: transaction.Link{
			Name: "fake", World: schema.Live, Timeout: 10 * time.Second, ResendAfter: time.Minute, Concurrency: 4, Available: p.available,
		},
		Operator: p, Reverser: p, Directory: p,
	}
}

func newServiceFixture(t testing.TB, db *sqlstore.DB, more ...order.Connection) *serviceFixture {
	t.Helper()
	s := &serviceFixture{t: t, clock: &fixture.Clock{}, fake: &fakeProvider{}}
	s.clock.Set(noon)
	s.tenant = accesstest.AddTenant(t, db, "shop")
	s.owner = s.tenant.In(schema.Live)
	s.restart(db, more...)
	books := wallet.New(wallet.Config{DB: db, Events: s.Events, Now: s.clock.Now})
	if _, err := books.Credit(t.Context(), s.owner, 1000_00, "UTR1", "test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.checkLedger)
	return s
}

// restart creates the service, or another one as after a kill: calls in flight stay as
// stored.
func (s *serviceFixture) restart(db *sqlstore.DB, more ...order.Connection) {
	s.t.Helper()
	events := outbox.New(outbox.Config{DB: db, Now: s.clock.Now})
	s.reg = prometheus.NewRegistry()
	var err error
	s.Service, err = New(Config{
		Options:     transaction.Options{DB: db, Cipher: accesstest.ClaimedCipher(s.t, db), Events: events, Registry: s.reg, Now: s.clock.Now},
		Settings:    Settings{BatchRoom: 4, MaskAfter: 180 * day},
		Connections: append([]order.Connection{s.fake.connection()}, more...),
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// checkLedger verifies the ledger.
func (s *serviceFixture) checkLedger() {
	report, err := wallet.Verify(context.Background(), s.DB, "")
	if err != nil || report.FaultCount != 0 {
		s.t.Errorf("the ledger: %v, %v", report.Faults, err)
	}
}

// request returns a request for 100 rupees with a new ref_id.
func (s *serviceFixture) request() request.Request {
	s.refs++
	return request.Request{
		Origin: transaction.Origin{Owner: s.owner, Caller: httpapi.Who{Key: "key_1", Request: "req_1", Client: "192.0.2.1"}},
		RefID:  fmt.Sprint("ref-", s.refs), Type: schema.Prepaid, Number: "9810012345", Valid: true, RequestedOperator: "Airtel", Amount: 100_00,
	}
}

// do makes a recharge, and waits until its call has ended.
func (s *serviceFixture) do(r request.Request) record.Record {
	s.t.Helper()
	rec, replayed, err := s.Do(s.t.Context(), r, 0)
	if err != nil || replayed {
		s.t.Fatalf("got %+v, %v, %v", rec, replayed, err)
	}
	s.Queue.Wait()
	return s.find(rec.ID)
}

// find returns the stored recharge.
func (s *serviceFixture) find(id string) record.Record {
	s.t.Helper()
	r, err := s.Find(context.Background(), s.owner, id)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// advance advances the clock, polls for every connection, and waits until the calls have
// ended.
func (s *serviceFixture) advance(d time.Duration) {
	s.t.Helper()
	s.clock.Advance(d)
	for _, l := range s.connections {
		s.Queue.Poll(s.t.Context(), l.Pool)
	}
	s.Queue.Wait()
}

// events returns the types of the account's recharge events, in order.
func (s *serviceFixture) events() []string {
	s.t.Helper()
	all, err := sqlstore.All(s.DB.View(s.t.Context()), scanText, "SELECT type FROM event WHERE account_id = $1 AND type LIKE 'recharge.%' ORDER BY id", s.owner.Account)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// audited returns the actions and actors of the account's recharges in the audit log.
func (s *serviceFixture) audited() []string {
	s.t.Helper()
	all, err := sqlstore.All(s.DB.View(s.t.Context()), scanText,
		"SELECT action || ' ' || actor FROM audit WHERE account_id = $1 AND action LIKE 'recharge.%' ORDER BY seq", s.owner.Account)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// balance fails the test if the account has another balance.
func (s *serviceFixture) balance(available, held schema.Paise) {
	s.t.Helper()
	got, err := wallet.BalanceOf(s.DB.View(s.t.Context()), s.owner)
	if want := (wallet.Balance{Available: available, Held: held}); err != nil || got != want {
		s.t.Errorf("the account has %+v, %v; want %+v", got, err, want)
	}
}

// metric returns the value of a metric.
func (s *serviceFixture) metric(name string, labels ...string) float64 {
	s.t.Helper()
	return fixture.MetricValue(s.t, s.reg, name, labels...)
}

// dueIn returns the time until the next poll of a recharge; negative for none.
func (s *serviceFixture) dueIn(id string) time.Duration {
	s.t.Helper()
	var due int64
	if err := s.DB.View(s.t.Context()).QueryRow("SELECT COALESCE(due_at, 0) FROM recharge WHERE id = $1", id).Scan(&due); err != nil {
		s.t.Fatal(err)
	}
	return time.UnixMicro(due).Sub(s.clock.Now())
}
