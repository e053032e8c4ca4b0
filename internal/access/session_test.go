package access

import (
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vayu/internal/access/apikey"
	"vayu/internal/access/session"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// signedIn creates a session of a key and returns its cookie.
func (s *serviceFixture) signedIn(key string) string {
	s.t.Helper()
	for _, route := range s.Routes() {
		if route.Path != session.Path || route.Method != http.MethodPost {
			continue
		}
		k, c := s.cache.find(apikey.Hash(key)), call(key)
		c.Principal = httpapi.Principal{World: k.world, Account: k.account.id, Key: k.id}
		made, err := route.Handler(c)
		if err != nil {
			s.t.Fatal(err)
		}
		return made.Cookie.Name + "=" + made.Cookie.Value
	}
	s.t.Fatal("no route creates sessions")
	return ""
}

// by sends a request with a session's cookie.
func (s *serviceFixture) by(cookie, client, path string) reply {
	r := httptest.NewRequest(http.MethodGet, httpapi.SessionPrefix+path, nil)
	r.RemoteAddr = client + ":4711"
	r.Header.Set("Cookie", cookie)
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	return reply{status: w.Code, text: w.Body.String(), header: w.Header()}
}

const browserAddress = "203.0.113.9"

// A session's reads of data count as they do for a key, and are rejected when the quota is used up.
// The dashboard's own reads stay possible.
func TestDataOfASessionCounts(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		acc := addAccount(t, db, "one", "five")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live, Scopes: schema.Scopes}).Key
		s.refresh()
		cookie := s.signedIn(key)
		for _, step := range []struct {
			path   string
			status int
			used   string
		}{
			{"/v1/any", 200, "0"},
			{"/v1/keys", 200, "0"},
			{"/v1/aqi", 200, "1"},
			{"/v1/recharge/1", 200, "2"},
			{"/v1/aqi?reserve=4", 429, "2"},
			{"/v1/aqi?reserve=3", 200, "5"},
			{"/v1/aqi", 429, "5"},
			{"/v1/recharge/1", 429, "5"},
			{"/v1/keys", 200, "5"},
			{"/v1/any", 200, "5"},
		} {
			if got := s.by(cookie, browserAddress, step.path); got.status != step.status || got.head("X-Quota-Used") != step.used {
				t.Errorf("%s: %d and %s used, want %d and %s", step.path, got.status, got.head("X-Quota-Used"), step.status, step.used)
			}
		}
		s.write()
		if calls, counted := sqlstoretest.Value[int64](t, db, "SELECT SUM(calls) FROM usage_day"), sqlstoretest.Value[int64](t, db, "SELECT SUM(counted) FROM usage_day"); calls != 10 || counted != 5 {
			t.Errorf("%d calls, %d counted; want 10 and 5", calls, counted)
		}
	})
}

// A session has its own bucket, except where money moves.
func TestASessionHasABucketOfItsOwn(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, func(c *Config) {
			c.Settings.Rate, c.Settings.Burst, c.Settings.MoneyRate, c.Settings.MoneyBurst = 1, 6, 1, 2
		})
		s.clock.Set(november)
		key := addKey(t, db, apikey.Spec{Account: addAccount(t, db, "one", "hundred"), World: schema.Live}).Key
		s.refresh()
		for range 6 {
			s.get(key, "")
		}
		cookie := s.signedIn(key)
		if got := s.by(cookie, browserAddress, "/v1/aqi"); got.status != http.StatusOK || !strings.HasPrefix(got.head("RateLimit"), `"viewing";r=5`) {
			t.Errorf("looking: %d %v", got.status, got.header)
		}
		if got := s.by(cookie, browserAddress, "/v1/recharge/1"); !strings.HasPrefix(got.head("RateLimit"), `"money";r=1`) {
			t.Errorf("money: %v", got.header)
		}
		for range 5 {
			s.by(cookie, browserAddress, "/v1/any")
		}
		if got := s.by(cookie, browserAddress, "/v1/any"); got.status != http.StatusTooManyRequests {
			t.Errorf("the bucket is empty, and got %d", got.status)
		}
	})
}

func TestASessionIsHeldToItsKeysAddresses(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		key := addKey(t, db, apikey.Spec{Account: addAccount(t, db, "one", "free"), AllowList: []string{browserAddress}, RequireSignature: true}).Key
		s.refresh()
		cookie := s.signedIn(key)
		if got := s.by(cookie, browserAddress, "/v1/any"); got.status != http.StatusOK {
			t.Errorf("unsigned, from its address: %d %s", got.status, got.text)
		}
		if got := s.get(key, "/v1/any"); got.code != schema.SignatureRequired {
			t.Errorf("the key, unsigned: %s", got.text)
		}
		if got := s.by(cookie, "203.0.113.10", "/v1/any"); got.status != http.StatusForbidden {
			t.Errorf("from another address: %d %s", got.status, got.text)
		}
		stored := sqlstoretest.Value[[]byte](t, db, "SELECT hash FROM session")
		switch {
		case strings.Contains(cookie, string(stored)):
			t.Errorf("the store has more than a hash: cookie = %q, want no %q in it", cookie, string(stored))
		case len(stored) != sha256.Size:
			t.Errorf("the store has more than a hash: len(stored) = %v, want %v", len(stored), sha256.Size)
		}
	})
}

func TestStoreFailureKeepsSessions(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		key := addKey(t, db, apikey.Spec{Account: addAccount(t, db, "one", "free")}).Key
		s.refresh()
		cookie := s.signedIn(key)
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("ALTER TABLE session RENAME TO elsewhere")
			return err
		})
		if got := s.by(cookie, browserAddress, "/v1/any"); got.status != http.StatusServiceUnavailable || got.head("Retry-After") == "" {
			t.Errorf("got %d %s", got.status, got.text)
		}
		families, err := s.reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == "vayu_access_refusals_total" && m.GetLabel()[0].GetValue() == string(schema.ServiceUnavailable) && m.GetCounter().GetValue() == 1 {
					return
				}
			}
		}
		t.Error("it was not counted")
	})
}
