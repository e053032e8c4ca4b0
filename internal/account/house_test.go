package account_test

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

	"vayu/internal/account"
	"vayu/internal/api"
	"vayu/internal/api/apitest"
	"vayu/internal/config"
	"vayu/internal/seal"
	"vayu/internal/state"
	"vayu/internal/state/statetest"
	"vayu/schema"
)

// house is a service with its store and its HTTP side, and an account with a key
// of each world that may do everything.
type house struct {
	*account.Service
	t       *testing.T
	url     string
	account string
	keys    [len(schema.Worlds)]string // by world
	log     lockedBuffer
	micros  atomic.Int64 // the clock
}

// lockedBuffer takes log lines of many goroutines.
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

// eachHouse runs a test on both engines.
func eachHouse(t *testing.T, do func(t *testing.T, h *house)) {
	t.Helper()
	statetest.Each(t, func(t *testing.T, db *state.DB) { do(t, newHouse(t, db)) })
}

var plans = map[string]int64{"unlimited": 0}

func newHouse(t *testing.T, db *state.DB, more ...api.Route) *house {
	t.Helper()
	box, err := seal.Open(config.NewSecret(base64.StdEncoding.EncodeToString(make([]byte, 32))), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Claim(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	h := &house{t: t}
	h.micros.Store(auditStart.UnixMicro())
	log := slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.Service, err = account.New(account.Config{
		DB: db, Box: box, Settings: account.Settings{Plans: plans}, Log: log,
		Now: func() time.Time { return time.UnixMicro(h.micros.Load()).UTC() },
	})
	if err != nil {
		t.Fatal(err)
	}
	h.account = newAccount(t, db, "default")
	for _, world := range schema.Worlds {
		h.keys[world] = h.newKey(account.KeySpec{Account: h.account, World: world, Scopes: schema.Scopes}).Key
	}
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(running) }()
	if err := h.Ready(running); err != nil {
		t.Fatal(err)
	}
	handler, err := api.New(api.Config{Routes: append(h.Routes(), more...), Access: h, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if len(more) == 0 { // the contract knows no routes of tests
		handler = apitest.Checked(t, handler)
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

// pass moves the clock on.
func (h *house) pass(d time.Duration) { h.micros.Add(d.Microseconds()) }

// newKey makes a key as the command line does.
func (h *house) newKey(spec account.KeySpec) account.Made {
	h.t.Helper()
	var made account.Made
	err := h.DB.Update(context.Background(), func(tx *state.Tx) error {
		var entry account.Entry
		var err error
		if made, entry, err = account.CreateKey(tx, h.Box, spec, h.Now()); err != nil {
			return err
		}
		entry.Actor = "command"
		return account.Audit(tx, h.Now(), entry)
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return made
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// do sends a request; header are names and values.
func (h *house) do(key, method, path, body string, header ...string) reply {
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

// send sends a request with more headers, names and values.
func (h *house) send(req *http.Request, header ...string) reply {
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
func (h *house) live(method, path, body string, header ...string) reply {
	h.t.Helper()
	return h.do(h.keys[schema.Live], method, path, body, header...)
}

// at returns a value of the body by its path, such as data.id.
func (r reply) at(path string) any {
	var v any = r.body
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// said returns a text of the body.
func (r reply) said(path string) string {
	text, _ := r.at(path).(string)
	return text
}

// wantError demands a refusal.
func (r reply) wantError(t testing.TB, what string, status int, code, field string) {
	t.Helper()
	if r.status != status || r.said("error.code") != code || r.said("error.field") != field {
		t.Errorf("%s: got %d %s, want %d %s %s", what, r.status, r.text, status, code, field)
	}
}

// want demands a status.
func (r reply) want(t testing.TB, what string, status int) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("%s: got %d %s, want %d", what, r.status, r.text, status)
	}
	return r
}
