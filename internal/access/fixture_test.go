package access

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// serviceFixture is one instance of the service on a store, with a router.
type serviceFixture struct {
	*Service

	t     testing.TB
	clock *fixture.Clock
	log   *fixture.Log
	reg   *prometheus.Registry
	api   http.Handler
}

// newServiceFixture returns an instance that does not run, without rate limits unless change sets
// them.
func newServiceFixture(t testing.TB, db *sqlstore.DB, change func(*Config)) *serviceFixture {
	t.Helper()
	s := &serviceFixture{t: t, clock: &fixture.Clock{}, log: &fixture.Log{}, reg: prometheus.NewRegistry()}
	box := testBox(t)
	if db != nil {
		if err := box.Claim(context.Background(), db); err != nil {
			t.Fatal(err)
		}
	}
	c := Config{
		DB: db, Cipher: box, Metrics: s.reg, Now: s.clock.Now, Timeout: time.Minute, // a machine may be busy
		Log:      slog.New(slog.NewTextHandler(s.log, nil)),
		Settings: Settings{Plans: map[string]int64{"free": 1000, "five": 5, "hundred": 100, "large": 1_000_000_000, "unlimited": 0}},
	}
	if change != nil {
		change(&c)
	}
	var err error
	s.Service = New(c)
	answer := func(c *httpapi.Call) (httpapi.Response, error) {
		query := c.URL.Query()
		if n, err := strconv.ParseInt(query.Get("reserve"), 10, 64); err == nil {
			if err := c.Reserve(n); err != nil {
				return httpapi.Response{}, err
			}
			c.Count = n
		}
		if n, err := strconv.ParseInt(query.Get("count"), 10, 64); err == nil {
			c.Count = n
		}
		if code := query.Get("fail"); code != "" {
			return httpapi.Response{}, schema.NewProblem(schema.Code(code), "", "As requested.")
		}
		return httpapi.Response{Value: c.Principal}, nil
	}
	s.api, err = httpapi.New(httpapi.Config{Access: s.Service, Routes: []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/aqi", Scope: string(schema.AQIRead), OwnQuery: true, Handler: answer},
		{Method: http.MethodGet, Path: "/v1/recharge/{id}", Scope: string(schema.RechargeRead), Limit: httpapi.Money, OwnQuery: true, Handler: answer},
		{Method: http.MethodGet, Path: "/v1/keys", Scope: string(schema.KeysManage), OwnQuery: true, Handler: answer},
		{Method: http.MethodGet, Path: "/v1/any", OwnQuery: true, Handler: answer},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// testBox returns a cipher with the same key in every test.
func testBox(t testing.TB) *encryption.Cipher {
	t.Helper()
	box, err := encryption.Open(config.NewSecret(base64.StdEncoding.EncodeToString(make([]byte, 32))), "")
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// start runs the instance until stop is called or the test ends.
func (s *serviceFixture) start() (stop func()) {
	s.t.Helper()
	stop = fixture.Run(s.t, s.Run)
	ready, done := context.WithTimeout(context.Background(), 5*time.Minute)
	defer done()
	if err := s.Ready(ready); err != nil {
		s.t.Fatal(err)
	}
	return stop
}

// refresh refreshes an instance that does not run.
func (s *serviceFixture) refresh() {
	s.t.Helper()
	ctx := context.Background()
	if err := errors.Join(s.Refresh(ctx), s.usage.ReadTotals(ctx)); err != nil {
		s.t.Fatal(err)
	}
}

// write flushes the counted usage.
func (s *serviceFixture) write() {
	s.t.Helper()
	if err := s.usage.Flush(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// reply is the reply to a request.
type reply struct {
	status int
	code   schema.Code // of an error
	text   string
	header http.Header
}

// head returns a header of the reply by its case-insensitive name.
func (r reply) head(name string) string {
	for have, values := range r.header {
		if strings.EqualFold(have, name) {
			return values[0]
		}
	}
	return ""
}

// testRequest is one request: a path with its query, by default /v1/aqi.
type testRequest struct {
	path, client string
	header       []string // values of Authorization
}

// get sends a GET request with a key.
func (s *serviceFixture) get(key, path string) reply {
	return s.send(testRequest{path: path, header: []string{"Bearer " + key}})
}

func (s *serviceFixture) send(a testRequest) reply {
	if a.path == "" {
		a.path = "/v1/aqi"
	}
	r := httptest.NewRequest(http.MethodGet, a.path, nil)
	r.RemoteAddr = "203.0.113.9:4711"
	if a.client != "" {
		r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(a.client), 4711).String()
	}
	if a.header != nil {
		r.Header["Authorization"] = a.header
	}
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Body)
	var problem schema.ProblemBody
	_ = json.Unmarshal(text, &problem) // other replies have no code
	return reply{w.Code, problem.Error.Code, string(text), w.Header()}
}

// addAccount creates an account and returns its id.
func addAccount(t testing.TB, db *sqlstore.DB, name, plan string) (id string) {
	t.Helper()
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
		h, _, err := account.Create(tx, map[string]int64{plan: 1}, name, plan, time.Now())
		id = h.ID
		return err
	})
	return id
}

// addKey creates a key.
func addKey(t testing.TB, db *sqlstore.DB, spec apikey.Spec) (made apikey.Created) {
	t.Helper()
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) (err error) {
		made, _, err = apikey.Create(tx, testBox(t), spec, time.Now())
		return err
	})
	return made
}

// admitted returns a call that is admitted and has not ended.
func (s *serviceFixture) admitted(key string) (httpapi.Pass, *httpapi.Call) {
	s.t.Helper()
	c := call(key)
	pass, err := s.Admit(c, aqiRoute)
	if err != nil {
		s.t.Fatal(err)
	}
	return pass, c
}

var aqiRoute = &httpapi.Route{Method: http.MethodGet, Path: "/v1/aqi", Scope: string(schema.AQIRead)}

// call returns a call with a key, as the router makes it.
func call(key string) *httpapi.Call {
	r := httptest.NewRequest(http.MethodGet, "/v1/aqi", nil)
	r.Header.Set("Authorization", "Bearer "+key)
	return &httpapi.Call{Request: r, Client: netip.MustParseAddr("203.0.113.9"), Count: 1}
}
