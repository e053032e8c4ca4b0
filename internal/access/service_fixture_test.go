package access_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// serverFixture is a service with its store and HTTP server, and an account with a key of every
// scope for each world.
type serverFixture struct {
	*access.Service
	t       *testing.T
	url     string
	account string
	keys    [len(schema.Worlds)]string // by world
	log     fixture.Log
	clock   *fixture.Clock
}

// eachServer runs a test on both engines.
func eachServer(t *testing.T, do func(t *testing.T, h *serverFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newServer(t, db)) })
}

var plans = map[string]int64{"unlimited": 0}

func newServer(t *testing.T, db *sqlstore.DB, more ...httpapi.Route) *serverFixture {
	t.Helper()
	h := &serverFixture{t: t, clock: fixture.NewClock(auditStart)}
	h.Service = access.New(access.Config{
		DB: db, Cipher: accesstest.ClaimedCipher(t, db), Settings: access.Settings{Plans: plans},
		Log: h.log.Logger(), Timeout: time.Minute, Now: h.clock.Now, // a machine may be busy
	})
	h.account = newAccount(t, db, "default")
	for _, world := range schema.Worlds {
		h.keys[world] = h.newKey(apikey.Spec{Account: h.account, World: world, Scopes: schema.Scopes}).Key
	}
	fixture.Run(t, h.Run)
	if err := h.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	handler, err := httpapi.New(httpapi.Config{Routes: append(h.Routes(), more...), Access: h, Log: h.log.Logger()})
	if err != nil {
		t.Fatal(err)
	}
	if len(more) == 0 { // the contract does not describe routes of tests
		handler = httpapitest.Checked(t, handler)
	}
	server := httptest.NewServer(handler)
	h.url = server.URL
	t.Cleanup(server.Close)
	return h
}

// newKey creates a key as the command line does.
func (h *serverFixture) newKey(spec apikey.Spec) apikey.Created {
	h.t.Helper()
	var made apikey.Created
	sqlstoretest.Update(h.t, h.DB, func(tx *sqlstore.Tx) error {
		var entry audit.Entry
		var err error
		if made, entry, err = apikey.Create(tx, h.Cipher, spec, h.Now()); err != nil {
			return err
		}
		entry.Actor = "command"
		return audit.Append(tx, h.Now(), entry)
	})
	return made
}

// do sends a request; header holds names and values in turn.
func (h *serverFixture) do(key, method, path, body string, header ...string) accesstest.Reply {
	h.t.Helper()
	req, err := http.NewRequest(method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if body == "" {
		req.Body = http.NoBody
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return h.send(req, header...)
}

// send sends a request with additional headers, names and values in turn.
func (h *serverFixture) send(req *http.Request, header ...string) accesstest.Reply {
	h.t.Helper()
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Error(err)
		return accesstest.Reply{}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Error(err)
	}
	r := accesstest.Reply{Status: resp.StatusCode, Header: resp.Header, Text: string(text)}
	if err := json.Unmarshal(text, &r.Body); err != nil && req.Method != http.MethodHead {
		h.t.Errorf("%s %s: %v: %s", req.Method, req.URL.Path, err, text)
	}
	return r
}

// live sends a request with the live key.
func (h *serverFixture) live(method, path, body string, header ...string) accesstest.Reply {
	h.t.Helper()
	return h.do(h.keys[schema.Live], method, path, body, header...)
}

var auditStart = time.Date(2026, 11, 21, 6, 0, 0, 123456000, time.UTC)

// newAccount inserts an account.
func newAccount(t testing.TB, db *sqlstore.DB, name string) string {
	t.Helper()
	var id string
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
		h, _, err := account.Create(tx, map[string]int64{"unlimited": 0}, name, "unlimited", auditStart)
		id = h.ID
		return err
	})
	return id
}
