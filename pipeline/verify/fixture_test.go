package verify

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
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// noon is the start time of tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Targets of tests.
const (
	anAccount = "001234567890123"
	aBranch   = "SBIN0000691"
	anAddress = "rahul.sharma@okaxis"
	aName     = "Rahul Sharma"
)

// fakeBank answers as a test prescribes. By default it answers Found.
type fakeBank struct {
	mu                        sync.Mutex
	deposit, enquire, resolve func(bank.Order) (bank.Answer, error)
	callNames                 []string // "deposit", in their order
	orders                    []bank.Order
	away                      bool
}

// foundAnswer is the answer about an existing account.
func foundAnswer(name string) bank.Answer {
	return bank.Answer{
		Outcome: bank.Found, ProviderRef: "theirs", UTR: "UTR123",
		Account: bank.Account{Name: name, Bank: "State Bank", Branch: "Main Road", Status: schema.AccountActive},
	}
}

func (p *fakeBank) call(name string, o bank.Order, say *func(bank.Order) (bank.Answer, error)) (bank.Answer, error) {
	p.mu.Lock()
	p.callNames, p.orders = append(p.callNames, name), append(p.orders, o)
	do := *say
	p.mu.Unlock()
	if do == nil {
		return foundAnswer("RAHUL SHARMA"), nil
	}
	return do(o)
}

func (p *fakeBank) Deposit(_ context.Context, o bank.Order) (bank.Answer, error) {
	return p.call("deposit", o, &p.deposit)
}

func (p *fakeBank) Enquire(_ context.Context, o bank.Order) (bank.Answer, error) {
	return p.call("enquire", o, &p.enquire)
}

func (p *fakeBank) Resolve(_ context.Context, o bank.Order) (bank.Answer, error) {
	return p.call("resolve", o, &p.resolve)
}

func (p *fakeBank) available() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.away
}

// set changes the answers.
func (p *fakeBank) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// calls returns the calls since the last time.
func (p *fakeBank) calls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := p.callNames
	p.callNames, p.orders = nil, nil
	return names
}

// answers returns a constant answer.
func answers(a bank.Answer) func(bank.Order) (bank.Answer, error) {
	return func(bank.Order) (bank.Answer, error) { return a, nil }
}

// fails returns a call that ends with an error.
func fails(err error) func(bank.Order) (bank.Answer, error) {
	return func(bank.Order) (bank.Answer, error) { return bank.Answer{}, err }
}

var (
	errLost    = errors.New("the answer was lost")
	errUnsent  = fmt.Errorf("dialling: %w", httpconnector.ErrNotSent)
	errBreaker = fmt.Errorf("a breaker: %w", httpconnector.ErrNotCalled)
)

// serviceFixture is a service with its store, a clock, an account, and a fake bank in the live
// world. It does not run; tests poll.
type serviceFixture struct {
	*Service

	t        testing.TB
	reg      *prometheus.Registry
	clock    *fixture.Clock
	log      *fixture.Log
	bank     *fakeBank
	settings Settings
	tenant   accesstest.Tenant
	owner    schema.Owner
	refs     int
}

func eachStore(t *testing.T, do func(t *testing.T, s *serviceFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newServiceFixture(t, db)) })
}

// connection returns the connection of the fake bank.
func (p *fakeBank) connection() bank.Connection {
	return bank.Connection{
		Link: transaction.Link{Name: "puppet", World: schema.Live, Timeout: 10 * time.Second, ResendAfter: time.Minute, Concurrency: 4, Available: p.available},
		Bank: p,
	}
}

func newServiceFixture(t testing.TB, db *sqlstore.DB, more ...bank.Connection) *serviceFixture {
	t.Helper()
	s := &serviceFixture{t: t, clock: &fixture.Clock{}, bank: &fakeBank{}, log: &fixture.Log{}, settings: DefaultSettings()}
	s.clock.Set(noon)
	s.tenant = accesstest.AddTenant(t, db, "shop")
	s.owner = s.tenant.In(schema.Live)
	s.begin(db, more...)
	return s
}

// begin creates the service, or a new one as after a kill. Calls in flight of the earlier one
// remain as they are in the store.
func (s *serviceFixture) begin(db *sqlstore.DB, more ...bank.Connection) {
	s.t.Helper()
	events := outbox.New(outbox.Config{DB: db, Now: s.clock.Now})
	s.reg = prometheus.NewRegistry()
	var err error
	s.Service, err = New(Config{
		Options:     transaction.Options{DB: db, Cipher: accesstest.ClaimedCipher(s.t, db), Events: events, Registry: s.reg, Now: s.clock.Now, Log: s.log.Logger()},
		Settings:    s.settings,
		Connections: append([]bank.Connection{s.bank.connection()}, more...), PublicURL: func() string { return "https://api.example.com" },
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// set recreates the service with other settings.
func (s *serviceFixture) set(change func(*Settings)) {
	s.t.Helper()
	change(&s.settings)
	s.begin(s.DB)
}

// request returns a penny drop with its own ref_id.
func (s *serviceFixture) request() request.Request {
	s.refs++
	return request.Request{
		Origin: transaction.Origin{Owner: s.owner, Caller: httpapi.Who{Key: "key_1", Request: "req_1", Client: "192.0.2.1"}},
		RefID:  fmt.Sprint("ref-", s.refs), Method: schema.VerifyPennyDrop, Private: request.Private{Account: anAccount, IFSC: aBranch, Name: aName},
		Tolerance: -1,
	}
}

// address returns a lookup of an address with its own ref_id.
func (s *serviceFixture) address() request.Request {
	q := s.request()
	q.Method, q.Private = schema.VerifyUPI, request.Private{VPA: anAddress, Name: aName}
	return q
}

// do creates a verification and waits for the end of its call.
func (s *serviceFixture) do(r request.Request) Record {
	s.t.Helper()
	rec, replayed, err := s.Do(s.t.Context(), r, 0, true)
	if err != nil || replayed {
		s.t.Fatalf("got %+v, %v, %v", rec, replayed, err)
	}
	s.Queue.Wait()
	return s.record(rec.ID)
}

// record reads a verification.
func (s *serviceFixture) record(id string) Record {
	s.t.Helper()
	r, found, err := verifications.Get(s.DB.View(context.Background()), id)
	if err != nil || !found {
		s.t.Fatalf("%s: %v, %v", id, found, err)
	}
	return r
}

// advance advances the clock, polls every connection and waits for the calls.
func (s *serviceFixture) advance(d time.Duration) {
	s.t.Helper()
	s.clock.Advance(d)
	for _, l := range s.connections {
		s.Queue.Poll(s.t.Context(), l.Pool)
	}
	s.Queue.Wait()
}

// texts returns the texts that a query finds.
func (s *serviceFixture) texts(query string, args ...any) []string {
	s.t.Helper()
	all, err := sqlstore.All(s.DB.View(context.Background()), func(row sqlstore.Scanner) (text string, err error) {
		err = row.Scan(&text)
		return text, err
	}, query, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// events returns the types of the account's verification events, in order.
func (s *serviceFixture) events() []string {
	s.t.Helper()
	return s.texts("SELECT type FROM event WHERE account_id = $1 AND type LIKE 'verification.%' ORDER BY id", s.owner.Account)
}

// audited returns actions and actors of the account's audit log about verifications.
func (s *serviceFixture) audited() []string {
	s.t.Helper()
	return s.texts("SELECT action || ' ' || actor FROM audit WHERE account_id = $1 AND action LIKE 'verification.%' ORDER BY seq", s.owner.Account)
}

// number returns the number that a query finds.
func (s *serviceFixture) number(query string, args ...any) (n int) {
	s.t.Helper()
	if err := s.DB.View(context.Background()).QueryRow(query, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// metric returns the value of a metric.
func (s *serviceFixture) metric(name string, labels ...string) float64 {
	s.t.Helper()
	return fixture.MetricValue(s.t, s.reg, name, labels...)
}

// dueIn returns the time until the next call; negative for none.
func (s *serviceFixture) dueIn(id string) time.Duration {
	s.t.Helper()
	var due int64
	if err := s.DB.View(context.Background()).QueryRow("SELECT COALESCE(due_at, 0) FROM verification WHERE id = $1", id).Scan(&due); err != nil {
		s.t.Fatal(err)
	}
	return time.UnixMicro(due).Sub(s.clock.Now())
}

// addBatch stores a batch with a number of records.
func (s *serviceFixture) addBatch(id string, total int) {
	s.t.Helper()
	sqlstoretest.Exec(s.t, s.DB, `INSERT INTO batch (id, account_id, mode, kind, fingerprint, state, total, successful, failed, key_id, request_id, client, created_at)
		VALUES ($1, $2, 'live', 'verification', $3, 'processing', $4, 0, 0, '', '', '', $5)`, id, s.owner.Account, []byte{1}, total, s.clock.Now().UnixMicro())
}

// exec changes the store.
func (s *serviceFixture) exec(statement string, args ...any) {
	s.t.Helper()
	sqlstoretest.Exec(s.t, s.DB, statement, args...)
}

// addTenant creates another account.
func (s *serviceFixture) addTenant(name string) accesstest.Tenant {
	s.t.Helper()
	return accesstest.AddTenant(s.t, s.DB, name)
}

// callback delivers a callback of the bank.
func (s *serviceFixture) callback(r Record, a bank.Answer) Record {
	s.t.Helper()
	out, err := s.Settle(context.Background(), r.Owner.World, r.Provider, r.ID, a, "provider:puppet")
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}
