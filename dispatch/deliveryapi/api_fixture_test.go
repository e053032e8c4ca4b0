package deliveryapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/deliveryapi"
	"vayu/dispatch/outbox"
	"vayu/dispatch/sender"
	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// start is the start time of tests. It has microseconds, the precision of the store.
var start = time.Date(2026, 11, 21, 6, 0, 0, 123456000, time.UTC)

// apiFixture is a service with its store and endpoints, and an account with its keys.
type apiFixture struct {
	*delivery.Service

	t      *testing.T
	access *access.Service
	client accesstest.Client
	tenant accesstest.Tenant
	clock  *fixture.Clock
	mu     sync.Mutex
	woken  []string
	events int
}

// eachFixture runs a test on both engines.
func eachFixture(t *testing.T, do func(t *testing.T, s *apiFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newFixture(t, db)) })
}

func newFixture(t *testing.T, db *sqlstore.DB) *apiFixture {
	t.Helper()
	s := &apiFixture{t: t, tenant: accesstest.AddTenant(t, db, "default"), clock: fixture.NewClock(start)}
	s.access = accesstest.Access(t, db, s.clock.Now)
	s.Service = delivery.New(delivery.Config{DB: db, Now: s.clock.Now, Wake: func(webhook string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.woken = append(s.woken, webhook)
	}})
	api := deliveryapi.API{Deliveries: s.Service, Change: s.access.Change}
	s.client = accesstest.NewClient(t, s.access, api.Routes())
	return s
}

// webhook creates a subscription of the account, and returns its id.
func (s *apiFixture) webhook(world schema.World, n int) string {
	s.t.Helper()
	id := fmt.Sprintf("wh_01KAHR3M5Q7S9V1X3Z5B7D%04d", n)
	s.addWebhook(s.tenant.ID, world, id)
	return id
}

// addWebhook creates a subscription.
func (s *apiFixture) addWebhook(account string, world schema.World, id string) {
	s.t.Helper()
	sqlstoretest.Exec(s.t, s.DB, `INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
		VALUES ($1, $2, $3, 'https://receiver.example/' || $1, 'payment.succeeded', 1, '2026-11-01', $4, 'last', 1, 1)`, id, account, world.String(), []byte{1})
}

// addEvent stores an event of the account.
func (s *apiFixture) addEvent(world schema.World, id string) *outbox.Event {
	s.t.Helper()
	sqlstoretest.Exec(s.t, s.DB, "INSERT INTO event (id, account_id, mode, type, created_at, envelope) VALUES ($1, $2, $3, 'payment.succeeded', $4, $5)",
		id, s.tenant.ID, world.String(), start.UnixMicro(), []byte("{}"))
	return &outbox.Event{ID: id, Account: s.tenant.ID, World: world, Type: schema.EventPaymentSucceeded, CreatedAt: start}
}

// delivery stores a pending delivery of a new event.
func (s *apiFixture) delivery(world schema.World, webhook string) delivery.Row {
	s.t.Helper()
	s.events++
	return s.insert(s.addEvent(world, fmt.Sprintf("evt_01KAHR3M5Q7S9V1X3Z5B7D%04d", s.events)), webhook)
}

// insert stores a delivery of an event, with a lease for its first attempt.
func (s *apiFixture) insert(e *outbox.Event, webhook string) (r delivery.Row) {
	s.t.Helper()
	sqlstoretest.Update(s.t, s.DB, func(tx *sqlstore.Tx) error {
		rows, err := delivery.Insert(tx, []delivery.Draft{{Event: e, Webhook: webhook, Lease: true}}, s.lease("token"), s.Now())
		if err == nil {
			r = rows[0]
		}
		return err
	})
	return r
}

// lease returns a lease of a minute.
func (s *apiFixture) lease(token string) workqueue.Lease {
	return workqueue.Lease{Token: token, Until: s.Now().Add(time.Minute)}
}

// finished stores a delivery with a final state, after its last attempt.
func (s *apiFixture) finished(world schema.World, webhook string, status int) delivery.Row {
	s.t.Helper()
	r := s.delivery(world, webhook)
	sqlstoretest.Exec(s.t, s.DB, "UPDATE delivery SET attempts = 7 WHERE id = $1", r.ID)
	r.Attempts = 7
	s.attempt(&r, s.answer(status))
	return r
}

// answer returns the result of an attempt that was answered with a status.
func (s *apiFixture) answer(status int) sender.Result {
	result := sender.Result{SentAt: s.Now(), Duration: 12345 * time.Microsecond, Stage: schema.StageStatus, Status: status, Body: []byte("ok")}
	if !result.OK() {
		result.Error = fmt.Sprint("the answer was ", status)
	}
	return result
}

// attempt records an attempt with the lease of a new delivery.
func (s *apiFixture) attempt(r *delivery.Row, result sender.Result) {
	s.t.Helper()
	s.record(delivery.Outcome{Row: r, Token: "token", Result: result, Transition: delivery.AfterAttempt(r.Attempts+1, result.OK(), s.Now())})
}

func (s *apiFixture) record(o delivery.Outcome) {
	s.t.Helper()
	sqlstoretest.Update(s.t, s.DB, func(tx *sqlstore.Tx) error {
		stale, err := delivery.Record(tx, []delivery.Outcome{o}, s.Now())
		if stale > 0 {
			s.t.Errorf("the lease of %s is lost", o.Row.ID)
		}
		return err
	})
}

// reply is an HTTP reply.
type reply struct{ accesstest.Reply }

func (s *apiFixture) do(world schema.World, method, path, body string, header ...string) reply {
	s.t.Helper()
	return reply{s.client.Do(s.tenant.Keys[world], method, path, body, header...)}
}

func (s *apiFixture) liveRequest(method, path, body string) reply {
	s.t.Helper()
	return s.do(schema.Live, method, path, body)
}

// refused checks the status of a refusal, and that its message contains a word.
func (r reply) refused(t *testing.T, what string, status int, code schema.Code, field, word string) {
	t.Helper()
	r.WantError(t, what, status, code, field)
	if got := r.TextAt("message"); !strings.Contains(got, word) {
		t.Errorf("%s: got the message %q, want %q in it", what, got, word)
	}
}

// read checks the status of a reply and decodes it.
func read[T any](t *testing.T, r reply, status int) (v T) {
	t.Helper()
	r.Want(t, "the reply", status)
	if err := json.Unmarshal([]byte(r.Text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// walk reads all pages of a list.
func (s *apiFixture) walk(world schema.World, path string) (ids []string) {
	s.t.Helper()
	between := "?"
	if strings.Contains(path, "?") {
		between = "&"
	}
	for next := ""; ; {
		list := read[schema.List[schema.Delivery]](s.t, s.do(world, "GET", path+next, ""), 200)
		for _, d := range list.Data {
			ids = append(ids, d.ID)
		}
		if list.NextCursor == nil {
			return ids
		}
		next = between + "cursor=" + *list.NextCursor
	}
}
