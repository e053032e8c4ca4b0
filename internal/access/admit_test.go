package access

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestAdmitRejectsInvalidKeys(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "unlimited")
		good := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live})
		revoked := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live})
		expiring := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live, ExpiresAt: time.Now().Add(time.Hour)})
		narrow := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live, Scopes: []schema.Scope{schema.RechargeRead}})
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { _, _, err := apikey.Revoke(tx, revoked.Record.ID, time.Now()); return err })
		s.refresh()

		bearer := func(key string) []string { return []string{"Bearer " + key} }
		stranger := apikey.Mint(schema.Live)
		mistyped := good.Key[:20] + "x" + good.Key[21:]
		if good.Key[20] == 'x' {
			mistyped = good.Key[:20] + "y" + good.Key[21:]
		}
		for name, c := range map[string]struct {
			testRequest
			want schema.Code
		}{
			"good":               {testRequest{header: bearer(good.Key)}, ""},
			"lower case scheme":  {testRequest{header: []string{"bearer " + good.Key}}, ""},
			"trailing blank":     {testRequest{header: []string{"Bearer " + good.Key + " "}}, ""},
			"before expiry":      {testRequest{header: bearer(expiring.Key)}, ""},
			"no scope needed":    {testRequest{path: "/v1/any", header: bearer(narrow.Key)}, ""},
			"none":               {testRequest{}, schema.Unauthorized},
			"empty":              {testRequest{header: []string{""}}, schema.Unauthorized},
			"no key":             {testRequest{header: []string{"Bearer "}}, schema.Unauthorized},
			"basic":              {testRequest{header: []string{"Basic " + good.Key}}, schema.Unauthorized},
			"doubled":            {testRequest{header: []string{"Bearer " + good.Key, "Bearer " + good.Key}}, schema.Unauthorized},
			"two keys":           {testRequest{header: bearer(good.Key + " " + good.Key)}, schema.Unauthorized},
			"10 kB":              {testRequest{header: bearer(strings.Repeat("a", 10_000))}, schema.Unauthorized},
			"NUL":                {testRequest{header: bearer(good.Key + "\x00")}, schema.Unauthorized},
			"wrong check":        {testRequest{header: bearer(mistyped)}, schema.Unauthorized},
			"not known":          {testRequest{header: bearer(stranger)}, schema.Unauthorized},
			"key in the query":   {testRequest{path: "/v1/aqi?key=" + good.Key}, schema.Unauthorized},
			"revoked":            {testRequest{header: bearer(revoked.Key)}, schema.KeyRevoked},
			"without scope":      {testRequest{header: bearer(narrow.Key)}, schema.InsufficientScope},
			"scope not by usual": {testRequest{path: "/v1/keys", header: bearer(good.Key)}, schema.InsufficientScope},
		} {
			t.Run(name, func(t *testing.T) {
				got := s.send(c.testRequest)
				if got.code != c.want || c.want == "" && got.status != http.StatusOK || c.want != "" && got.status != c.want.Status() {
					t.Errorf("%d %s, want %s", got.status, got.text, c.want)
				}
				if got.status == http.StatusUnauthorized && got.head("WWW-Authenticate") != "Bearer" {
					t.Errorf("WWW-Authenticate is %q", got.head("WWW-Authenticate"))
				}
			})
		}
		if text := s.get(narrow.Key, "/v1/aqi").text; !strings.Contains(text, string(schema.AQIRead)) {
			t.Errorf("the refusal does not name the scope: %s", text)
		}
		// The error must not reveal whether a key is mistyped or unknown.
		one, other := s.get(mistyped, ""), s.get(stranger, "")
		hide := func(r reply) string { return strings.ReplaceAll(r.text, r.head("X-Request-Id"), "") }
		if diff := cmp.Diff(hide(one), hide(other)); diff != "" {
			t.Error(diff)
		}

		s.clock.Set(time.Now().Add(2 * time.Hour))
		if got := s.get(expiring.Key, ""); got.code != schema.KeyExpired {
			t.Errorf("after its expiry, before any look: %s", got.text)
		}
	})
}

func TestAddressesThatAreAllowed(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		open, closed := addAccount(t, db, "open", "unlimited"), addAccount(t, db, "closed", "unlimited")
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
			_, _, err := account.SetAllowList(tx, closed, []string{"10.0.0.0/8", "2001:db8::/32"})
			return err
		})
		keys := map[string]string{
			"anywhere":         addKey(t, db, apikey.Spec{Account: open}).Key,
			"key's":            addKey(t, db, apikey.Spec{Account: open, AllowList: []string{"192.0.2.7"}}).Key,
			"account's":        addKey(t, db, apikey.Spec{Account: closed}).Key,
			"key's in account": addKey(t, db, apikey.Spec{Account: closed, AllowList: []string{"10.1.0.0/16", "192.0.2.7"}}).Key,
		}
		s.refresh()
		for name, clients := range map[string]map[string]bool{
			"anywhere":         {"203.0.113.9": true, "::1": true},
			"key's":            {"192.0.2.7": true, "::ffff:192.0.2.7": true, "192.0.2.8": false, "::1": false},
			"account's":        {"10.9.9.9": true, "2001:db8::7": true, "11.0.0.1": false, "2001:db9::7": false},
			"key's in account": {"10.1.2.3": true, "10.2.2.3": false, "192.0.2.7": false},
		} {
			for client, allowed := range clients {
				got := s.send(testRequest{client: client, header: []string{"Bearer " + keys[name]}})
				if allowed != (got.status == http.StatusOK) || !allowed && got.code != schema.IPNotAllowed {
					t.Errorf("%s from %s: %d %s", name, client, got.status, got.text)
				}
			}
		}
	})
}

func TestInvalidAllowListAllowsNoAddress(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		key := addKey(t, db, apikey.Spec{Account: addAccount(t, db, "one", "unlimited")})
		sqlstoretest.Exec(t, db, "UPDATE api_key SET allow_list = 'nonsense'")
		s.refresh()
		if got := s.get(key.Key, ""); got.code != schema.IPNotAllowed {
			t.Errorf("got %d %s, want %s", got.status, got.text, schema.IPNotAllowed)
		}
		if n := s.log.Count("is invalid"); n != 1 {
			t.Errorf("the invalid list is logged %d times, want once", n)
		}
	})
}

func TestRejectedCallsReportLimits(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, func(c *Config) { c.Settings.Rate, c.Settings.Burst = 1, 3 })
		s.clock.Set(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		key := addKey(t, db, apikey.Spec{Account: addAccount(t, db, "one", "hundred"), World: schema.Live})
		s.refresh()
		reset := strconv.FormatInt(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC).Unix(), 10)
		for i, want := range []struct {
			path, remaining, used string
			code                  schema.Code
		}{
			{"/v1/aqi", "2", "1", ""},
			{"/v1/aqi?fail=forbidden", "1", "1", schema.Forbidden},
			{"/v1/keys", "1", "1", schema.InsufficientScope},
			{"/v1/aqi?count=7", "0", "8", ""},
			{"/v1/aqi", "0", "8", schema.RateLimited},
		} {
			got := s.get(key.Key, want.path)
			have := []string{
				string(got.code), got.head("X-RateLimit-Limit"), got.head("X-RateLimit-Remaining"),
				got.head("X-Quota-Limit"), got.head("X-Quota-Used"), got.head("X-Quota-Reset"),
			}
			if diff := cmp.Diff([]string{string(want.code), "3", want.remaining, "100", want.used, reset}, have); diff != "" {
				t.Errorf("call %d, %s: %s", i, want.path, diff)
			}
			if retry := got.head("Retry-After"); (retry == "1") != (want.code == schema.RateLimited) {
				t.Errorf("call %d: Retry-After is %q", i, retry)
			}
		}
	})
}

// Changes in the sandbox are marked for the store, which serves the live world first.
func TestChangesOfTheSandboxAreMarked(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "unlimited")
		keys := [len(schema.Worlds)]string{}
		for _, w := range schema.Worlds {
			keys[w] = addKey(t, db, apikey.Spec{Account: acc, World: w}).Key
		}
		s.refresh()
		for _, w := range schema.Worlds {
			c := call(keys[w])
			c.Method = http.MethodPost
			if _, err := s.Admit(c, aqiRoute); err != nil {
				t.Fatal(err)
			}
			if got := sqlstore.WorldOf(c.Context()); got != w {
				t.Errorf("a call of %s is marked as one of %s", w, got)
			}
		}
	})
}
