package conformance

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Serve serves a handler on a free port of this machine while the function `use` runs. The argument of `use` is the
// address of the server, such as http://127.0.0.1:40123.
func Serve(ctx context.Context, handler http.Handler, use func(address string)) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("starting the fake server: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	use("http://" + listener.Addr().String())
	err = server.Close()
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// Serve sets c.URL, and serves the replies of the case there while the function `use` runs. It returns the faults of
// the requests, and the error of `use`. A case with an input file needs no server.
func (c *Case) Serve(ctx context.Context, use func() error) (faults []string, err error) {
	if len(c.Replies) == 0 {
		return nil, use()
	}
	s := &server{c: c}
	served := Serve(ctx, s, func(address string) {
		c.URL = address + "/feed"
		err = use()
	})
	return s.takeFaults(), errors.Join(err, served)
}

// server serves the replies of a case over HTTP, in order unless the case has AnyOrder.
type server struct {
	c *Case

	mu     sync.Mutex
	next   int
	faults []string // of the requests so far
}

// restart makes the server begin again with the first reply.
func (s *server) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = 0
}

// takeFaults returns the faults of the requests so far, and removes them from s.
func (s *server) takeFaults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	faults := s.faults
	s.faults = nil
	return faults
}

func (s *server) faultf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

func (s *server) reply(r *http.Request) (Reply, bool) {
	if s.c.AnyOrder {
		i := slices.IndexFunc(s.c.Replies, func(one Reply) bool { return one.answers(r) })
		if i < 0 {
			return Reply{}, false
		}
		return s.c.Replies[i], true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.next
	s.next++
	if last := len(s.c.Replies) - 1; i > last {
		return s.c.Replies[last], s.c.Repeat
	}
	return s.c.Replies[i], true
}

// answers reports whether the path and query of a request match the reply.
func (one *Reply) answers(r *http.Request) bool {
	for name, want := range one.Query {
		if r.URL.Query().Get(name) != want {
			return false
		}
	}
	return one.Path == "" || one.Path == r.URL.EscapedPath()
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply, ok := s.reply(r)
	if !ok {
		s.faultf("request %s?%s has no reply: the case has no such path, or it came after the last reply", r.URL.Path, r.URL.Query().Encode())
		http.Error(w, "no further reply", http.StatusTeapot)
		return
	}
	if reply.Path != "" && reply.Path != r.URL.EscapedPath() {
		s.faultf("request of %s, want %s", r.URL.EscapedPath(), reply.Path)
	}
	for name, want := range reply.Query {
		if got := r.URL.Query().Get(name); got != want {
			s.faultf("request with %s=%q, want %q", name, got, want)
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
	body, err := s.c.Body(reply)
	if err != nil {
		s.faultf("%v", err)
	}
	if reply.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1000))
	}
	var out io.Writer = w
	if reply.Gzip {
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		defer func() { _ = packed.Close() }() // in some cases the client closes the connection early
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
