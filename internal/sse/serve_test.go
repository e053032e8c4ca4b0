package sse_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/httpapi/server"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// keys are valid in both worlds.
var keys = httpapitest.Keys{"sk_live", "sk_test"}

// hubServer is a running hub behind an HTTP server.
type hubServer struct {
	*hub

	url    string
	server *http.Server
}

func serve(t *testing.T, most int) *hubServer {
	t.Helper()
	s := &hubServer{hub: newHub(t, most)}
	fixture.Run(t, s.Run)
	h, err := httpapi.New(httpapi.Config{Routes: s.Routes(), Access: keys})
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := server.NewListener(socket, nil, nil, server.Connections{})
	s.url, s.server = "http://"+socket.Addr().String(), server.New(h, nil)
	s.server.RegisterOnShutdown(s.End)
	go func() { _ = s.server.Serve(listener) }() // until it is closed
	t.Cleanup(func() { _ = s.server.Close() })
	return s
}

// open opens a stream.
func (s *hubServer) open(t *testing.T, query string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/live"+query, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sk_test")
	r.Header.Set("Accept-Encoding", "gzip, zstd")
	resp, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// until reads lines up to one with the given beginning.
func until(t *testing.T, lines *bufio.Reader, begin string) string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("waiting for %q: %v", begin, err)
		}
		if strings.HasPrefix(line, begin) {
			return line
		}
	}
}

var tester = schema.Owner{Account: "acc_sandbox", World: schema.Sandbox}

func TestStreamOverHTTP(t *testing.T) {
	t.Parallel()
	s := serve(t, 0)
	resp := s.open(t, "")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": "", "X-Service-Mode": "sandbox",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	lines := bufio.NewReader(resp.Body)
	if got := until(t, lines, "retry: "); got != "retry: 2000\n" {
		t.Error(got)
	}
	until(t, lines, "event: hello")
	s.deliveries.add(tester, "dlv_01KAHR3M5Q7S9V1X3Z5B7D9F1H", "waiting")
	if got, want := until(t, lines, `data: {"id"`), "data: {\"id\":\"dlv_01KAHR3M5Q7S9V1X3Z5B7D9F1H\",\"state\":\"waiting\"}\n"; got != want {
		t.Error(cmp.Diff(want, got))
	}
	if got := fixture.MetricValue(t, s.metrics, "vayu_live_streams"); got != 1 {
		t.Errorf("%v streams are open, want 1", got)
	}
	resp.Body.Close()
	fixture.Eventually(t, "the stream of a client that left is closed", func() bool {
		return fixture.MetricValue(t, s.metrics, "vayu_live_streams") == 0
	})
}

// TestStreamMatchesTheContract reads a stream with a time limit.
func TestStreamMatchesTheContract(t *testing.T) {
	t.Parallel()
	s := serve(t, 0)
	client := http.Client{Transport: httpapitest.Transport(t, nil)}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		r, err := http.NewRequestWithContext(t.Context(), method, s.url+"/v1/live?for=1&kinds=delivery", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer sk_test")
		r.Header.Set("Last-Event-ID", "1")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || method == http.MethodGet && len(httpapitest.Messages(text)) != 2 {
			t.Errorf("%s: %d %v %q", method, resp.StatusCode, err, text)
		}
	}
	if got := fixture.MetricValue(t, s.metrics, "vayu_live_streams"); got != 0 {
		t.Errorf("%v streams are open, want none", got)
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	door := accesstest.NewClient(t, keys, newHub(t, 0).Routes())
	for query, field := range map[string]string{
		"kinds=delivery,wallet": "kinds", "kinds=": "kinds", "kinds=,": "kinds", "for=0": "for", "for=3601": "for", "for=-1": "for",
		"for=1.5": "for", "for=99999999999999999999": "for", "since=1": "since", "for=1&for=2": "for",
	} {
		door.Do("sk_test", http.MethodGet, "/v1/live?"+query, "").WantError(t, query, http.StatusBadRequest, schema.InvalidRequest, field)
	}
	door.Do("sk_test", http.MethodGet, "/v1/live", "", "Accept", "application/json").
		WantError(t, "JSON", http.StatusNotAcceptable, schema.NotAcceptable, "Accept")
	door.Do("", http.MethodGet, "/v1/live", "").WantError(t, "no key", http.StatusUnauthorized, schema.Unauthorized, "")
}

func TestLimitOfStreamsPerKey(t *testing.T) {
	t.Parallel()
	s := serve(t, 0)
	for range 20 {
		until(t, bufio.NewReader(s.open(t, "").Body), "event: hello")
	}
	door := accesstest.NewClient(t, keys, s.Routes())
	refused := door.Do("sk_test", http.MethodGet, "/v1/live", "")
	refused.WantError(t, "the next one", http.StatusTooManyRequests, schema.RateLimited, "")
	if refused.Header.Get("Retry-After") == "" || !strings.Contains(refused.TextAt("message"), "20 open streams") {
		t.Errorf("%v %s", refused.Header, refused.Text)
	}
	if got := fixture.MetricValue(t, s.metrics, "vayu_live_refused_total", "reason", "key"); got != 1 {
		t.Errorf("%v refusals are counted, want 1", got)
	}
}

// An account with many keys does not use the limit of others. A closed stream frees its
// slot.
func TestLimitOfStreamsPerAccount(t *testing.T) {
	t.Parallel()
	runHub(t, func(t *testing.T, h *hub) {
		mine := make([]*client, 0, 200)
		for i := range cap(mine) {
			mine = append(mine, h.listen(t, request{key: "key_" + strconv.Itoa(i%25)}))
		}
		next := h.listen(t, request{key: "key_next"})
		if p, refused := errors.AsType[*schema.Problem](next.err); !refused {
			t.Errorf("the next one: got %v, want a problem", next.err)
		} else if p.Code != schema.RateLimited || p.RetryAfter == 0 {
			t.Errorf("the next one: got %s, retry after %d s, want %s and a time", p.Code, p.RetryAfter, schema.RateLimited)
		}
		if got := fixture.MetricValue(t, h.metrics, "vayu_live_refused_total", "reason", "account"); got != 1 {
			t.Errorf("%v refusals are counted, want 1", got)
		}
		if other := h.listen(t, request{owner: schema.Owner{Account: "acc_b"}, key: "key_b"}); other.err != nil {
			t.Errorf("another account: %v", other.err)
		}
		mine[0].leave()
		<-mine[0].ended
		if again := h.listen(t, request{key: "key_next"}); again.err != nil {
			t.Errorf("after one was closed: %v", again.err)
		}
	})
}

func TestLimitOfStreamsPerInstance(t *testing.T) {
	t.Parallel()
	s := serve(t, 2)
	for range 2 {
		until(t, bufio.NewReader(s.open(t, "").Body), "event: hello")
	}
	door := accesstest.NewClient(t, keys, s.Routes())
	door.Do("sk_live", http.MethodGet, "/v1/live", "").WantError(t, "the third", http.StatusTooManyRequests, schema.RateLimited, "")
	if got := fixture.MetricValue(t, s.metrics, "vayu_live_refused_total", "reason", "all"); got != 1 {
		t.Errorf("%v refusals are counted, want 1", got)
	}
}

// Shutdown returns no error, so no stream delays it beyond the drain time.
func TestShutdownEndsStreams(t *testing.T) {
	t.Parallel()
	s := serve(t, 0)
	lines := bufio.NewReader(s.open(t, "").Body)
	until(t, lines, "event: hello")
	limit, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := s.server.Shutdown(limit); err != nil {
		t.Errorf("stopping: %v", err)
	}
	if _, err := io.ReadAll(lines); err != nil {
		t.Errorf("the stream ended with %v, want io.EOF", err)
	}
}

func TestManyStreams(t *testing.T) {
	t.Parallel()
	const many = 200
	s := newHub(t, 0)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = s.Run(ctx) }() // until the test ends
	url := accesstest.Serve(t, manyKeys{}, s.Routes())
	defer s.End()
	var all []*bufio.Reader
	client := &http.Transport{}
	for i := range many {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/live", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer key_"+string(rune('a'+i%20)))
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		all = append(all, bufio.NewReader(resp.Body))
		until(t, all[i], "event: hello")
	}
	if got := fixture.MetricValue(t, s.metrics, "vayu_live_streams"); got != many {
		t.Errorf("%v streams are open, want %d", got, many)
	}
	for i := range 20 {
		s.deliveries.add(schema.Owner{Account: "key_" + string(rune('a'+i)), World: schema.Sandbox}, "dlv_1", "waiting")
	}
	for _, lines := range all {
		until(t, lines, "event: delivery")
	}
}

// manyKeys admits every key, each as an account of its own.
type manyKeys struct{ httpapitest.Keys }

func (manyKeys) Admit(c *httpapi.Call, route *httpapi.Route) (httpapi.Pass, error) {
	key, err := httpapi.BearerKey(c.Request)
	if err != nil {
		return nil, err
	}
	pass, err := httpapitest.Keys{"", key}.Admit(c, route)
	c.Principal = httpapi.Principal{World: schema.Sandbox, Account: key, Key: key}
	return pass, err
}
