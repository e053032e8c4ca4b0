package sse_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/sse"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// fakeAccess is an Access that tests configure. Unknown keys have every scope.
type fakeAccess struct {
	mu            sync.Mutex
	scopes        map[string][]schema.Scope
	endedSessions map[string]bool // by key
}

func (d *fakeAccess) Scopes(c *httpapi.Call) []schema.Scope {
	d.mu.Lock()
	defer d.mu.Unlock()
	if all, known := d.scopes[c.Key]; known {
		return all
	}
	return schema.Scopes
}

func (d *fakeAccess) SessionsEnded(_ context.Context, calls []*httpapi.Call) ([]bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]bool, len(calls))
	for i, c := range calls {
		out[i] = d.endedSessions[c.Key]
	}
	return out, nil
}

// grant sets the scopes of a key.
func (d *fakeAccess) grant(key string, scopes ...schema.Scope) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scopes[key] = scopes
}

func (d *fakeAccess) endSession(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.endedSessions[key] = true
}

// fakeFeed is a feed of changes that a test adds.
type fakeFeed struct {
	mu      sync.Mutex
	kinds   []sse.Kind
	changes []change
	cut     bool
	err     error
	polls   int
}

type change struct {
	at     time.Time
	notice sse.Notice
}

func (f *fakeFeed) Kinds() []sse.Kind { return f.kinds }

func (f *fakeFeed) Changes(_ context.Context, queries []sse.Query) (sse.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.polls++
	if f.err != nil {
		return sse.Result{}, f.err
	}
	var found sse.Result
	for _, a := range queries {
		for _, c := range f.changes {
			if c.notice.Owner == a.Owner && !c.at.Before(a.Since) {
				found.Notices = append(found.Notices, c.notice)
			}
		}
	}
	if f.cut {
		found.Cut = sse.Owners(queries)
	}
	return found, nil
}

func (f *fakeFeed) update(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// add adds a change at the current time.
func (f *fakeFeed) add(o schema.Owner, id, state string) {
	kind := f.kinds[0]
	f.update(func() {
		f.changes = append(f.changes, change{time.Now(), sse.Notice{Owner: o, Kind: kind.Name, ID: id, Scope: kind.Scopes[0], Data: map[string]string{"id": id, "state": state}}})
	})
}

var errUnavailable = errors.New("the store is unavailable")

// hub is a service with two feeds.
type hub struct {
	*sse.Service

	access     *fakeAccess
	deliveries *fakeFeed
	air        *fakeFeed
	log        *fixture.Log
	metrics    *prometheus.Registry
}

func newHub(tb testing.TB, most int) *hub {
	tb.Helper()
	h := &hub{
		access:     &fakeAccess{scopes: map[string][]schema.Scope{}, endedSessions: map[string]bool{}},
		deliveries: &fakeFeed{kinds: []sse.Kind{{Name: schema.LiveDelivery, Scopes: []schema.Scope{schema.WebhooksManage}}}},
		air:        &fakeFeed{kinds: []sse.Kind{{Name: schema.LiveAir, Scopes: []schema.Scope{schema.AQIRead}}}},
		log:        &fixture.Log{}, metrics: prometheus.NewRegistry(),
	}
	var err error
	h.Service, err = sse.New(sse.Config{
		Access: h.access, Feeds: []sse.Feed{h.deliveries, h.air}, Log: h.log.Logger(), Metrics: h.metrics, MaxStreams: most,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// runHub runs a hub in a synctest bubble, with fake time. It ends the hub and every
// stream afterwards.
func runHub(t *testing.T, do func(t *testing.T, h *hub)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, 0)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx) }()
		do(t, h)
		h.End()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// client is a client of a stream. It can stop reading.
type client struct {
	mu    sync.Mutex
	text  bytes.Buffer
	stuck chan struct{} // blocks Flush; nil for a client that reads
	leave context.CancelFunc
	ended chan struct{}
	err   error
}

// Write implements httpapi.Flusher.
func (c *client) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

// Flush implements httpapi.Flusher.
func (c *client) Flush() error {
	if c.stuck != nil {
		<-c.stuck
	}
	return nil
}

// messages returns the messages received, each as its event and its data.
func (c *client) messages() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range httpapitest.Messages(c.text.Bytes()) {
		out = append(out, m["event"]+" "+m["data"])
	}
	return out
}

// received returns all text received.
func (c *client) received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// lastID returns the last id received.
func (c *client) lastID() string {
	text := c.received()
	id, _, _ := strings.Cut(text[strings.LastIndex(text, "id: ")+len("id: "):], "\n")
	return id
}

func (c *client) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// request configures a stream request.
type request struct {
	owner     schema.Owner
	key, path string
	lastID    string
	session   bool
	stuck     chan struct{}
}

var owner = schema.Owner{Account: "acc_a", World: schema.Sandbox}

// listen opens a stream.
func (h *hub) listen(tb testing.TB, a request) *client {
	tb.Helper()
	if a.path == "" {
		a.path = "/v1/live"
	}
	if a.owner == (schema.Owner{}) {
		a.owner = owner
	}
	if a.key == "" {
		a.key = "key_a"
	}
	ctx, leave := context.WithCancel(context.Background())
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, a.path, http.NoBody)
	if a.lastID != "" {
		r.Header.Set("Last-Event-ID", a.lastID)
	}
	call := &httpapi.Call{Request: r, Principal: httpapi.Principal{World: a.owner.World, Account: a.owner.Account, Key: a.key}, BySession: a.session}
	c := &client{stuck: a.stuck, leave: leave, ended: make(chan struct{})}
	resp, err := h.Routes()[0].Serve(call)
	if err != nil {
		leave()
		c.err = err
		close(c.ended)
		return c
	}
	go func() {
		defer close(c.ended)
		if err := resp.Stream(c); err != nil {
			tb.Errorf("the stream ended with %v", err)
		}
	}()
	return c
}

// count returns how often a text was received.
func (c *client) count(text string) int { return strings.Count(c.received(), text) }
