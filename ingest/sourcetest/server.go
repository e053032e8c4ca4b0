package sourcetest

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// server serves the feed of a case over real HTTP.
type server struct {
	t *testing.T
	c *Case

	mu   sync.Mutex
	next int
}

// serve starts the server of a case and returns it.
func serve(t *testing.T, c *Case) *server {
	t.Helper()
	s := &server{t: t, c: c}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	c.URL = web.URL + "/feed"
	return s
}

// restart makes the server begin again with the first reply.
func (s *server) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = 0
}

func (s *server) reply() (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.next
	s.next++
	if last := len(s.c.Replies) - 1; i > last {
		return s.c.Replies[last], s.c.Repeat
	}
	return s.c.Replies[i], true
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply, ok := s.reply()
	if !ok {
		s.t.Errorf("request %s came after the last reply", r.URL.Query().Encode())
		http.Error(w, "no further reply", http.StatusTeapot)
		return
	}
	for name, want := range reply.Query {
		if got := r.URL.Query().Get(name); got != want {
			s.t.Errorf("request with %s=%q, want %q", name, got, want)
		}
	}
	for name, value := range reply.Header {
		w.Header().Set(name, strings.ReplaceAll(value, "$URL", s.c.URL))
	}
	if tag := reply.Header["ETag"]; tag != "" && r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.send(w, r, reply)
}

func (s *server) send(w http.ResponseWriter, r *http.Request, reply Reply) {
	var body []byte
	if reply.File != "" {
		var err error
		if body, err = os.ReadFile(filepath.Join(s.c.dir, reply.File)); err != nil {
			s.t.Error(err)
		}
	}
	if reply.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1000))
	}
	var out io.Writer = w
	if reply.Gzip {
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		defer func() { _ = packed.Close() }() // a closed client connection is part of a case
		out = packed
	}
	if reply.Status != 0 {
		w.WriteHeader(reply.Status)
	}
	for {
		if _, err := out.Write(body); err != nil || !reply.Endless || r.Context().Err() != nil {
			return
		}
	}
}
