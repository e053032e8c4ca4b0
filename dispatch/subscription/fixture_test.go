package subscription

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// cacheFixture is one instance of the service on a store, with a router in front.
type cacheFixture struct {
	*Cache

	t     testing.TB
	clock *fixture.Clock
	log   *fixture.Log
	reg   *prometheus.Registry
	who   *access.Service
	bare  http.Handler
	api   http.Handler // bare, and every reply compared with the contract
}

var errJudge = errors.New("the judge is asleep")

// fakeCheck is a fake of the address check. It requires https and a host, refuses one
// host, and fails for another.
func fakeCheck(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "":
		return nil, schema.NewProblem(schema.InvalidWebhookURL, "url", "The URL must be https://host/path.")
	case u.Host == "metadata.internal":
		return nil, schema.NewProblem(schema.URLNotAllowed, "url", "The URL leads where no webhook may go.")
	case u.Host == "asleep.example.com":
		return nil, errJudge
	}
	return u, nil
}

// newFixture returns an instance that does not run.
func newFixture(t testing.TB, db *sqlstore.DB) *cacheFixture {
	t.Helper()
	s := &cacheFixture{t: t, clock: &fixture.Clock{}, log: &fixture.Log{}, reg: prometheus.NewRegistry()}
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	box := accesstest.Cipher(t)
	if db != nil {
		box = accesstest.ClaimedCipher(t, db)
	}
	var err error
	s.who = access.New(access.Config{
		DB: db, Cipher: box, Log: log, Now: s.clock.Now,
		Settings: access.Settings{Plans: map[string]int64{"unlimited": 0}},
	})
	s.Cache = New(Config{
		DB: db, Cipher: accesstest.Cipher(t), Change: s.who.Change, Check: fakeCheck, Test: s.sendTest,
		Log: log, Metrics: s.reg, Now: s.clock.Now, Timeout: time.Minute, // a machine may be busy
	})
	if s.bare, err = httpapi.New(httpapi.Config{Routes: s.Routes(), Access: s.who, Log: log}); err != nil {
		t.Fatal(err)
	}
	return s.in(t)
}

// in returns the instance with another test to fail.
func (s *cacheFixture) in(t testing.TB) *cacheFixture {
	t.Helper()
	out := *s
	out.t, out.api = t, httpapitest.Checked(t, s.bare)
	return &out
}

// sendTest is a fake of the dispatcher. It stores an event and a delivery.
func (s *cacheFixture) sendTest(tx *sqlstore.Tx, to *Subscription, event schema.EventType) (eventID, deliveryID string, err error) {
	now := s.Now()
	eventID, deliveryID = "evt_"+ulid.MustNewDefault(now).String(), "dlv_"+ulid.MustNewDefault(now).String()
	if _, err := tx.Exec("INSERT INTO event (id, account_id, mode, type, created_at, envelope) VALUES ($1, $2, $3, $4, $5, $6)",
		eventID, to.Account, to.World.String(), string(event), now.UnixMicro(), []byte("{}")); err != nil {
		return "", "", err
	}
	_, err = tx.Exec(`INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, state, attempts, due_at, token, created_at, retried_as)
		VALUES ($1, $2, $3, $4, $5, '', 'waiting', 0, $6, '', $6, '')`, deliveryID, eventID, to.ID, to.Account, to.World.String(), now.UnixMicro())
	return eventID, deliveryID, err
}

// start runs the cache until stop is called, or the test ends.
func (s *cacheFixture) start() (stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Errorf("the book ended with %v", err)
		}
	})
	s.t.Cleanup(stop)
	ready, done := context.WithTimeout(ctx, 5*time.Minute)
	defer done()
	if err := s.Ready(ready); err != nil {
		s.t.Fatal(err)
	}
	return stop
}

// refreshNow refreshes an instance that does not run.
func (s *cacheFixture) refreshNow() {
	s.t.Helper()
	ctx := context.Background()
	if err := errors.Join(s.Refresh(ctx), s.who.Refresh(ctx)); err != nil {
		s.t.Fatal(err)
	}
}

// tenant is an account with a key for each world.
type tenant struct {
	id   string
	keys [len(schema.Worlds)]string
}

// of returns the tenant as an owner in a world.
func (a tenant) of(w schema.World) schema.Owner { return schema.Owner{Account: a.id, World: w} }

func addTenant(t testing.TB, db *sqlstore.DB, name string) tenant {
	t.Helper()
	var out tenant
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
		h, _, err := account.Create(tx, map[string]int64{"unlimited": 0}, name, "unlimited", time.Now())
		if err != nil {
			return err
		}
		out.id = h.ID
		for _, w := range schema.Worlds {
			made, _, err := apikey.Create(tx, accesstest.Cipher(t), apikey.Spec{Account: h.ID, World: w}, time.Now())
			if err != nil {
				return err
			}
			out.keys[w] = made.Key
		}
		return nil
	})
	return out
}

// add creates a subscription as a command would.
func (s *cacheFixture) add(spec Spec) (made Made) {
	s.t.Helper()
	if spec.URL == "" {
		spec.URL = "https://shop.example.com/hook"
	}
	sqlstoretest.Update(s.t, s.DB, func(tx *sqlstore.Tx) (err error) {
		made, _, err = s.Create(tx, spec, s.Now())
		return err
	})
	return made
}

// reply is an HTTP reply.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// request sends a request; header holds names and values in turn.
func (s *cacheFixture) request(key, method, path, body string, header ...string) reply {
	s.t.Helper()
	var r *http.Request
	if body == "" {
		r = httptest.NewRequest(method, path, http.NoBody)
	} else {
		r = httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+key)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	out := reply{status: w.Code, header: w.Header(), text: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &out.body); err != nil {
		s.t.Errorf("%s %s: %v: %s", method, path, err, out.text)
	}
	return out
}

// value returns a value of the body by its path, such as data.id.
func (r reply) value(path string) any {
	var v any = r.body
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// stringAt returns a string of the body by its path.
func (r reply) stringAt(path string) string {
	text, _ := r.value(path).(string)
	return text
}

// want checks the status of a reply.
func (r reply) want(t testing.TB, what string, status int) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("%s: got %d %s, want %d", what, r.status, r.text, status)
	}
	return r
}

// wantError checks the status, code and field of a refusal.
func (r reply) wantError(t testing.TB, what string, status int, code schema.Code, field string) {
	t.Helper()
	if r.status != status || r.stringAt("error.code") != string(code) || r.stringAt("error.field") != field {
		t.Errorf("%s: got %d %s, want %d %s %s", what, r.status, r.text, status, code, field)
	}
}

// each runs a test on both engines, with an instance and a tenant.
func each(t *testing.T, run func(t *testing.T, s *cacheFixture, a tenant)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newFixture(t, db)
		a := addTenant(t, db, "one")
		s.refreshNow()
		run(t, s, a)
	})
}

// eachPair runs a test on one store that is opened twice: PostgreSQL by two instances,
// SQLite by a service and a command.
func eachPair(t *testing.T, run func(t *testing.T, here, there *cacheFixture, a tenant)) {
	t.Helper()
	both := func(t *testing.T, mine, theirs sqlstore.Config) {
		here, there := newFixture(t, sqlstoretest.Open(t, mine)), newFixture(t, sqlstoretest.Open(t, theirs))
		a := addTenant(t, here.DB, "one")
		here.refreshNow()
		there.refreshNow()
		run(t, here, there, a)
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		both(t, sqlstore.Config{Data: dir}, sqlstore.Config{Data: dir, Share: true})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 8}}
		both(t, c, c)
	})
}

// figure returns the value of a metric.
func (s *cacheFixture) figure(name string) float64 {
	s.t.Helper()
	families, err := s.reg.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			m := family.GetMetric()[0]
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	s.t.Fatalf("there is no metric %s", name)
	return 0
}

// await waits until a condition holds.
func (s *cacheFixture) await(what string, is func() bool) {
	s.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(5 * time.Minute) // a test that hangs, no promise
	for !is() {
		select {
		case <-tick.C:
		case <-limit:
			s.t.Fatal("waited in vain for " + what)
		}
	}
}

// audited returns the audit log of a tenant's live world.
func (s *cacheFixture) audited(a tenant) []string {
	s.t.Helper()
	rows, err := sqlstore.All(s.DB.View(context.Background()), func(row sqlstore.Scanner) (string, error) {
		var action, detail string
		err := row.Scan(&action, &detail)
		return action + " " + detail, err
	}, "SELECT action, detail FROM audit WHERE account_id = $1 AND mode = 'live' ORDER BY seq", a.id)
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}
