package access_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/access/apikey"
	"vayu/schema"
)

// signIn exchanges a key for a session and returns its cookie and its id.
func (h *serverFixture) signIn(key string) (cookie, id string) {
	h.t.Helper()
	r := h.do(key, "POST", "/v1/sessions", "", "User-Agent", "Browser 1").Want(h.t, "signing in", 201)
	set, err := http.ParseSetCookie(r.Header.Get("Set-Cookie"))
	if err != nil {
		h.t.Fatal(err)
	}
	return set.Name + "=" + set.Value, r.TextAt("data.id")
}

// by sends a request with a cookie.
func (h *serverFixture) by(cookie, method, path, body string, header ...string) accesstest.Reply {
	h.t.Helper()
	return h.do("", method, "/dashboard"+path, body, append(header, "Cookie", cookie)...)
}

func TestABrowserSignsInLooksAndSignsOut(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		for _, w := range schema.Worlds {
			made := h.do(h.keys[w], "POST", "/v1/sessions", "", "User-Agent", "Fire\tfox "+h.keys[w]).Want(t, "signing in", 201)
			if set := made.Header.Get("Set-Cookie"); !strings.Contains(set, "; Path=/dashboard; Max-Age=28800; HttpOnly; SameSite=Strict") || strings.Contains(set, "Secure") {
				t.Errorf("the cookie over plain HTTP: %s", set)
			}
			usage := h.do(h.keys[w], "GET", "/v1/usage", "").Want(t, "usage", 200)
			if free := `"operation":"POST /v1/sessions","calls":1,"failed":0,"counted":0`; !strings.Contains(usage.Text, free) {
				t.Errorf("the usage after signing in is %s, want %s", usage.Text, free)
			}
			if strings.Contains(made.Text, h.keys[w]) || made.TextAt("data.expires_at") != "2026-11-21T14:00:00Z" || made.At("data.current") != true {
				t.Errorf("made: %s", made.Text)
			}
			cookie, _, _ := strings.Cut(made.Header.Get("Set-Cookie"), ";")
			who := h.by(cookie, "GET", "/v1/sessions/current", "").Want(t, "who am I", 200)
			switch {
			case who.TextAt("data.account.id") != h.account:
				t.Errorf("who: %s: who.TextAt(\"data.account.id\") = %q, want %q", who.Text, who.TextAt("data.account.id"), h.account)
			case who.TextAt("data.mode") != w.String():
				t.Errorf("who: %s: who.TextAt(\"data.mode\") = %q, want %q", who.Text, who.TextAt("data.mode"), w.String())
			case who.TextAt("data.session.id") != made.TextAt("data.id"):
				t.Errorf("who: %s: who.TextAt(\"data.session.id\") = %q, want %q", who.Text, who.TextAt("data.session.id"), made.TextAt("data.id"))
			case who.TextAt("data.key.last_four") != h.keys[w][len(h.keys[w])-4:]:
				t.Errorf("who: %s: who.TextAt(\"data.key.last_four\") = %q, want %q", who.Text, who.TextAt("data.key.last_four"), h.keys[w][len(h.keys[w])-4:])
			case (who.Header.Get("X-Service-Mode") == "sandbox") != (w == schema.Sandbox):
				t.Errorf("who: %s %v", who.Text, who.Header)
			}
			if by := h.do(h.keys[w], "GET", "/v1/sessions/current", "").Want(t, "by key", 200); by.At("data.session") != nil {
				t.Errorf("by key: %s", by.Text)
			}
			h.by(cookie, "HEAD", "/v1/account", "").Want(t, "HEAD", 200)
			token := strings.TrimPrefix(cookie, "vayu_session=")
			if rows := h.do(h.keys[w], "GET", "/v1/audit", "").Text; strings.Contains(rows, token) || !strings.Contains(rows, `"action":"session.create"`) {
				t.Errorf("audit: %s", rows)
			}
			if strings.Contains(h.log.String(), token) {
				t.Error("the log has the token")
			}
			out := h.by(cookie, "DELETE", "/v1/sessions/current", "").Want(t, "signing out", 200)
			if !strings.Contains(out.Header.Get("Set-Cookie"), "vayu_session=; Path=/dashboard; Max-Age=0") {
				t.Errorf("signed out: %v", out.Header)
			}
			h.by(cookie, "GET", "/v1/account", "").WantError(t, "afterwards", 401, "unauthorized", "")
			h.do(h.keys[w], "DELETE", "/v1/sessions/current", "").WantError(t, "no session to end", 404, "not_found", "")
		}
	})
}

func TestInvalidSessionsAreRejected(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		cookie, id := h.signIn(h.keys[schema.Live])
		for name, c := range map[string]struct {
			cookie, header, path, code, field string
			status                            int
		}{
			"no cookie":          {"", "", "/dashboard/v1/account", "unauthorized", "", 401},
			"another token":      {"vayu_session=" + strings.Repeat("A", 43), "", "/dashboard/v1/account", "unauthorized", "", 401},
			"no token":           {"vayu_session=x", "", "/dashboard/v1/account", "unauthorized", "", 401},
			"an id":              {"vayu_session=" + id, "", "/dashboard/v1/account", "unauthorized", "", 401},
			"two cookies":        {cookie + "; " + cookie, "", "/dashboard/v1/account", "unauthorized", "", 401},
			"a header as well":   {cookie, "Bearer " + h.keys[schema.Live], "/dashboard/v1/account", "invalid_request", "Authorization", 400},
			"on /v1":             {cookie, "", "/v1/account", "unauthorized", "", 401},
			"nowhere":            {cookie, "", "/dashboard/v1/nothing", "not_found", "", 404},
			"the prefix doubled": {cookie, "", "/dashboard/dashboard/v1/account", "not_found", "", 404},
		} {
			t.Run(name, func(t *testing.T) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+c.path, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				header := []string{"Cookie", c.cookie}
				if c.header != "" {
					header = append(header, "Authorization", c.header)
				}
				h.send(req, header...).WantError(t, name, c.status, schema.Code(c.code), c.field)
			})
		}
		h.by(cookie, "GET", "/v1/account", "").Want(t, "the session itself", 200)
	})
}

func TestASessionIsGoodAsLongAsItsKey(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		soon := h.newKey(apikey.Spec{Account: h.account, ExpiresAt: h.Now().Add(time.Hour)})
		cookie, _ := h.signIn(soon.Key)
		long, _ := h.signIn(h.keys[schema.Live])
		narrow := h.newKey(apikey.Spec{Account: h.account, Scopes: []schema.Scope{schema.AQIRead}})
		reader, _ := h.signIn(narrow.Key)
		h.by(reader, "GET", "/v1/account", "").WantError(t, "without the scope", 403, "insufficient_scope", "")
		h.by(reader, "POST", "/v1/sessions", "").WantError(t, "a session makes no session", 403, "forbidden", "")
		made := h.by(long, "POST", "/v1/keys", `{"name":"of a session"}`).Want(t, "making a key", 201)
		if to := made.Header.Get("Location"); to != "/dashboard/v1/keys/"+made.TextAt("data.id") {
			t.Errorf("made at %s", to)
		}
		h.by(long, "DELETE", "/v1/keys/"+narrow.Record.ID, "").Want(t, "revoking", 200)
		h.by(reader, "GET", "/v1/sessions/current", "").WantError(t, "of a revoked key", 401, "key_revoked", "")
		h.clock.Advance(time.Hour)
		h.by(cookie, "GET", "/v1/account", "").WantError(t, "of an expired key", 401, "unauthorized", "")
		h.by(long, "GET", "/v1/account", "").Want(t, "within 8 hours", 200)
		h.by(long, "PATCH", "/v1/account", `{"allow_list":["127.0.0.1"]}`).Want(t, "an allow-list", 200)
		h.clock.Advance(7 * time.Hour)
		h.by(long, "GET", "/v1/account", "").WantError(t, "after 8 hours", 401, "unauthorized", "")
		h.clock.Advance(2 * time.Minute)
		if err := access.PurgeOnce(h.Service, t.Context()); err != nil {
			t.Fatal(err)
		}
		var rows int
		if err := h.DB.View(t.Context()).QueryRow("SELECT count(*) FROM session WHERE expires_at <= $1", h.Now().UnixMicro()).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%d expired rows are left, %v", rows, err)
		}
	})
}

func TestSignOutEverywhere(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		one, first := h.signIn(h.keys[schema.Live])
		h.clock.Advance(time.Second) // ids of one instant have no order
		two, _ := h.signIn(h.keys[schema.Live])
		other, foreign := h.signIn(h.newKey(apikey.Spec{Account: h.account}).Key)
		h.by(one, "DELETE", "/v1/sessions/"+foreign, "").WantError(t, "of another key", 404, "not_found", "")
		h.by(one, "DELETE", "/v1/sessions/x", "").WantError(t, "no id", 404, "not_found", "")
		page := h.by(two, "GET", "/v1/sessions?limit=1", "").Want(t, "listing", 200)
		rest := h.by(two, "GET", "/v1/sessions?cursor="+page.TextAt("next_cursor"), "").Want(t, "the next page", 200)
		switch {
		case !strings.Contains(page.Text, `"current":true`):
			t.Errorf("page.Text = %q, want %q in it", page.Text, `"current":true`)
		case !strings.Contains(rest.Text, first):
			t.Errorf("rest.Text = %q, want %q in it", rest.Text, first)
		case !strings.Contains(rest.Text, `"current":false`):
			t.Errorf("rest.Text = %q, want %q in it", rest.Text, `"current":false`)
		case strings.Contains(page.Text+rest.Text, foreign):
			t.Errorf("page.Text+rest.Text = %q, want no %q in it", page.Text+rest.Text, foreign)
		}
		if out := h.by(one, "DELETE", "/v1/sessions", "").Want(t, "everywhere", 200); out.At("ended") != 2.0 || out.Header.Get("Set-Cookie") == "" {
			t.Errorf("everywhere: %s", out.Text)
		}
		h.by(one, "GET", "/v1/sessions", "").WantError(t, "the one", 401, "unauthorized", "")
		h.by(two, "GET", "/v1/sessions", "").WantError(t, "the other", 401, "unauthorized", "")
		h.by(other, "GET", "/v1/sessions", "").Want(t, "of another key", 200)
	})
}

func TestTheOldestOfTooManySessionsEnds(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		first, _ := h.signIn(h.keys[schema.Live])
		h.clock.Advance(time.Second) // ids of one instant have no order
		second, _ := h.signIn(h.keys[schema.Live])
		h.clock.Advance(time.Second)
		for range 99 {
			h.signIn(h.keys[schema.Live])
		}
		h.by(first, "GET", "/v1/sessions", "").WantError(t, "the oldest", 401, "unauthorized", "")
		all := h.by(second, "GET", "/v1/sessions?limit=1000", "").Want(t, "the second", 200)
		if n := strings.Count(all.Text, `"id":`); n != 100 {
			t.Errorf("%d sessions, want 100", n)
		}
	})
}

func TestCrossSiteChangesAreRejected(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		cookie, _ := h.signIn(h.keys[schema.Live])
		for name, header := range map[string][]string{
			"Origin":     {"Origin", "https://evil.example"},
			"cross-site": {"Sec-Fetch-Site", "cross-site"},
			"same-site":  {"Sec-Fetch-Site", "same-site"},
			"null":       {"Origin", "null"},
		} {
			h.by(cookie, "DELETE", "/v1/sessions", "", header...).WantError(t, name, 403, "forbidden", "")
		}
		h.by(cookie, "GET", "/v1/sessions", "", "Sec-Fetch-Site", "cross-site").Want(t, "looking changes nothing", 200)
		h.by(cookie, "DELETE", "/v1/sessions", "", "Sec-Fetch-Site", "same-origin", "Origin", h.url).Want(t, "its own page", 200)
	})
}
