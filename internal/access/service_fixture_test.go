package access_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/access"
	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
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
	log     lockedBuffer
	micros  atomic.Int64 // the clock
}

// lockedBuffer is a concurrent log buffer.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// eachServer runs a test on both engines.
func eachServer(t *testing.T, do func(t *testing.T, h *serverFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newServer(t, db)) })
}

var plans = map[string]int64{"unlimited": 0}

func newServer(t *testing.T, db *sqlstore.DB, more ...httpapi.Route) *serverFixture {
	t.Helper()
	box, err := encryption.Open(config.NewSecret(base64.StdEncoding.EncodeToString(make([]byte, 32))), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Claim(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	h := &serverFixture{t: t}
	h.micros.Store(auditStart.UnixMicro())
	log := slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.Service = access.New(access.Config{
		DB: db, Cipher: box, Settings: access.Settings{Plans: plans}, Log: log, Timeout: time.Minute, // a machine may be busy
		Now: func() time.Time { return time.UnixMicro(h.micros.Load()).UTC() },
	})
	h.account = newAccount(t, db, "default")
	for _, world := range schema.Worlds {
		h.keys[world] = h.newKey(apikey.Spec{Account: h.account, World: world, Scopes: schema.Scopes}).Key
	}
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(running) }()
	if err := h.Ready(running); err != nil {
		t.Fatal(err)
	}
	handler, err := httpapi.New(httpapi.Config{Routes: append(h.Routes(), more...), Access: h, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if len(more) == 0 { // the contract does not describe routes of tests
		handler = httpapitest.Checked(t, handler)
	}
	server := httptest.NewServer(handler)
	h.url = server.URL
	t.Cleanup(func() {
		server.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return h
}

// pass advances the clock.
func (h *serverFixture) pass(d time.Duration) { h.micros.Add(d.Microseconds()) }

// newKey creates a key as the command line does.
func (h *serverFixture) newKey(spec apikey.Spec) apikey.Created {
	h.t.Helper()
	var made apikey.Created
	err := h.DB.Update(context.Background(), func(tx *sqlstore.Tx) error {
		var entry audit.Entry
		var err error
		if made, entry, err = apikey.Create(tx, h.Cipher, spec, h.Now()); err != nil {
			return err
		}
		entry.Actor = "command"
		return audit.Append(tx, h.Now(), entry)
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return made
}

// reply is the reply to a request.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// do sends a request; header holds names and values in turn.
func (h *serverFixture) do(key, method, path, body string, header ...string) reply {
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
func (h *serverFixture) send(req *http.Request, header ...string) reply {
	h.t.Helper()
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Error(err)
		return reply{}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Error(err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, text: string(text)}
	if err := json.Unmarshal(text, &r.body); err != nil && req.Method != http.MethodHead {
		h.t.Errorf("%s %s: %v: %s", req.Method, req.URL.Path, err, text)
	}
	return r
}

// live sends a request with the live key.
func (h *serverFixture) live(method, path, body string, header ...string) reply {
	h.t.Helper()
	return h.do(h.keys[schema.Live], method, path, body, header...)
}

// at returns the value of the body at a path, such as data.id.
func (r reply) at(path string) any {
	var v any = r.body
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// textAt returns the text of the body at a path.
func (r reply) textAt(path string) string {
	text, _ := r.at(path).(string)
	return text
}

// wantError checks for an error.
func (r reply) wantError(t testing.TB, what string, status int, code, field string) {
	t.Helper()
	if r.status != status || r.textAt("error.code") != code || r.textAt("error.field") != field {
		t.Errorf("%s: got %d %s, want %d %s %s", what, r.status, r.text, status, code, field)
	}
}

// want fails the test unless the reply has a status.
func (r reply) want(t testing.TB, what string, status int) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("%s: got %d %s, want %d", what, r.status, r.text, status)
	}
	return r
}

var auditStart = time.Date(2026, 11, 21, 6, 0, 0, 123456000, time.UTC)

// newAccount inserts an account.
func newAccount(t testing.TB, db *sqlstore.DB, name string) string {
	t.Helper()
	var id string
	err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
		h, _, err := account.Create(tx, map[string]int64{"unlimited": 0}, name, "unlimited", auditStart)
		id = h.ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}
