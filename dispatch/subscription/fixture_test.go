package subscription

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/httpapi"
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
	api   accesstest.Client
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
	out.t, out.api = t, accesstest.ClientOf(t, s.bare)
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
	stop = fixture.Run(s.t, s.Run)
	ready, done := context.WithTimeout(context.Background(), 5*time.Minute)
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

// request sends a request; header holds names and values in turn.
func (s *cacheFixture) request(key, method, path, body string, header ...string) accesstest.Reply {
	s.t.Helper()
	return s.api.Do(key, method, path, body, header...)
}

// each runs a test on both engines, with an instance and a tenant.
func each(t *testing.T, run func(t *testing.T, s *cacheFixture, a accesstest.Tenant)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newFixture(t, db)
		a := accesstest.AddTenant(t, db, "one")
		s.refreshNow()
		run(t, s, a)
	})
}

// eachPair runs a test on one store that is opened twice: PostgreSQL by two instances,
// SQLite by a service and a command.
func eachPair(t *testing.T, run func(t *testing.T, here, there *cacheFixture, a accesstest.Tenant)) {
	t.Helper()
	both := func(t *testing.T, mine, theirs sqlstore.Config) {
		here, there := newFixture(t, sqlstoretest.Open(t, mine)), newFixture(t, sqlstoretest.Open(t, theirs))
		a := accesstest.AddTenant(t, here.DB, "one")
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

// audited returns the audit log of a tenant's live world.
func (s *cacheFixture) audited(a accesstest.Tenant) []string {
	s.t.Helper()
	rows, err := sqlstore.All(s.DB.View(context.Background()), func(row sqlstore.Scanner) (string, error) {
		var action, detail string
		err := row.Scan(&action, &detail)
		return action + " " + detail, err
	}, "SELECT action, detail FROM audit WHERE account_id = $1 AND mode = 'live' ORDER BY seq", a.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}
