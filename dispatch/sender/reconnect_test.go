package sender

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

// recorder records what receivers get.
type recorder struct {
	mu    sync.Mutex
	texts []string
}

func (r *recorder) add(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
}

// stale is a connection whose nth write fails as on a closed connection, after it has
// accepted some bytes.
type stale struct {
	net.Conn
	writes atomic.Int64
	fails  int64
	takes  int
}

func (c *stale) Write(p []byte) (int, error) {
	if c.writes.Add(1) < c.fails {
		return c.Conn.Write(p)
	}
	n, _ := c.Conn.Write(p[:c.takes])
	c.Conn.Close()
	return n, syscall.EPIPE
}

// against sends twice. The first connection fails at the second request, after it has
// accepted some bytes. It returns both results and the received signatures.
func against(t *testing.T, takes int) (first, second Result, signatures []string) {
	t.Helper()
	var got recorder
	s := piped(t, nil)
	dials := 0
	s.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go receive(far, &got)
		if dials++; dials == 1 {
			return &stale{Conn: near, fails: 2, takes: takes}, nil
		}
		return near, nil
	}
	p := testPost("http://127.0.0.1/in")
	p.Header.Set("Idempotency-Key", "k")
	p.Header.Set("X-Idempotency-Key", "k")
	n := 0
	p.Sign = func(now time.Time) (string, error) {
		n++
		return strconv.FormatInt(now.Unix(), 10) + "#" + strconv.Itoa(n), nil
	}
	first = s.Send(t.Context(), p)
	time.Sleep(time.Second) // of the bubble; the connection is back in the pool
	second = s.Send(t.Context(), p)
	return first, second, got.texts
}

func receive(conn net.Conn, got *recorder) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		got.add(req.Header.Get("X-Service-Signature") + " " + string(body))
		if _, err := io.WriteString(conn, fine); err != nil {
			return
		}
	}
}

func TestClosedPooledConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().Unix()
		first, second, got := against(t, 0)
		if !first.OK() || !second.OK() {
			t.Errorf("got %+v and %+v, want two successes", first, second)
		}
		at := func(second int64, n string) string {
			return strconv.FormatInt(start+second, 10) + "#" + n + ` {"id":"evt_1"}`
		}
		if diff := cmp.Diff([]string{at(0, "1"), at(1, "3")}, got); diff != "" {
			t.Errorf("signatures (-want +got):\n%s", diff)
		}
	})
}

// The stage of a result is that of the last connection.
func TestStageOfReplacedConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got recorder
		s := piped(t, nil)
		dials := 0
		s.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			if dials++; dials > 1 {
				return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
			}
			near, far := net.Pipe()
			go receive(far, &got)
			return &stale{Conn: near, fails: 2}, nil
		}
		p := testPost("http://127.0.0.1/in")
		if r := s.Send(t.Context(), p); !r.OK() {
			t.Fatalf("got %+v", r)
		}
		if r := s.Send(t.Context(), p); r.Stage != schema.StageDNS || r.Error != textNoListen || dials != 2 {
			t.Errorf("got %+v after %d dials, want a refused connection", r, dials)
		}
	})
}

func TestPartiallyWrittenRequestIsNotRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second, got := against(t, 1)
		if !first.OK() || second.OK() || second.Error != textClosed {
			t.Errorf("got %+v and %+v, want a success and a closed connection", first, second)
		}
		if len(got) != 1 {
			t.Errorf("receivers got %q, want one request", got)
		}
	})
}

// If a receiver reads the second request of a connection and closes it, the request is
// not sent again.
func TestClosedAfterReadingIsNotSentAgain(t *testing.T) {
	t.Parallel()
	var taken atomic.Int64
	url := "http://" + listen(t, "127.0.0.1:0", nil, func(conn net.Conn) {
		r := bufio.NewReader(conn)
		for readRequest(r) == nil {
			if taken.Add(1) == 2 {
				return
			}
			_, _ = io.WriteString(conn, fine)
		}
	})
	s := newSender(t, Config{})
	p := testPost(url)
	p.Header.Set("Idempotency-Key", "k")
	if got := s.Send(t.Context(), p); !got.OK() {
		t.Fatalf("got %+v", got)
	}
	want{text: textClosed, stages: waiting}.check(t, s.Send(t.Context(), p))
	if n := taken.Load(); n != 2 {
		t.Errorf("the receiver got %d requests, want 2", n)
	}
}

func TestRequestHasNoOtherHeaders(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	address := listen(t, "127.0.0.1:0", nil, func(conn net.Conn) {
		text := make([]byte, 4096)
		n, _ := conn.Read(text)
		got <- string(text[:n])
		_, _ = io.WriteString(conn, fine)
	})
	header := http.Header{"Content-Type": {"application/json"}, "X-SERVICE-Event-Id": {"evt_1"}}
	p := Post{URL: "http://" + address + "/in?a=b%20c", Header: header, Body: []byte(`{"id":"evt_1"}`), Sign: func(time.Time) (string, error) { return "t=1,v1=ab", nil }}
	if r := newSender(t, Config{}).Send(t.Context(), p); !r.OK() {
		t.Fatalf("got %+v", r)
	}
	head, body, _ := strings.Cut(<-got, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	slices.Sort(lines[1:])
	want := []string{
		"POST /in?a=b%20c HTTP/1.1", "Content-Length: 14", "Content-Type: application/json", "Host: " + address,
		"X-SERVICE-Event-Id: evt_1", "X-SERVICE-Signature: t=1,v1=ab",
	}
	if diff := cmp.Diff(want, lines); diff != "" || body != `{"id":"evt_1"}` {
		t.Errorf("the request (-want +got):\n%s\nwith the body %q", diff, body)
	}
	if diff := cmp.Diff(http.Header{"Content-Type": {"application/json"}, "X-SERVICE-Event-Id": {"evt_1"}}, header); diff != "" {
		t.Errorf("the header that was given has changed:\n%s", diff)
	}
}

// Many goroutines share a sender, a header and a body, over connections that come and
// go. Each signature is sent once, and the race detector finds no race.
func TestConcurrentSends(t *testing.T) {
	t.Parallel()
	var got recorder
	var served atomic.Int64
	url := "http://" + listen(t, "127.0.0.1:0", nil, func(conn net.Conn) {
		r := bufio.NewReader(conn)
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			got.add(req.Header.Get("X-Service-Signature"))
			if _, err := io.WriteString(conn, fine); err != nil || served.Add(1)%5 == 0 {
				return
			}
		}
	})
	s := newSender(t, Config{PerHost: 4})
	p := testPost(url)
	var n, acknowledged atomic.Int64
	p.Sign = func(time.Time) (string, error) { return strconv.FormatInt(n.Add(1), 10), nil }
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if r := s.Send(t.Context(), p); r.OK() {
					acknowledged.Add(1)
				}
			}
		})
	}
	all.Wait()
	slices.Sort(got.texts)
	if unique := len(slices.Compact(slices.Clone(got.texts))); unique != len(got.texts) {
		t.Errorf("%d requests carried %d signatures", len(got.texts), unique)
	}
	if a := acknowledged.Load(); a == 0 || int(a) > len(got.texts) {
		t.Errorf("%d attempts were acknowledged, the receiver got %d", a, len(got.texts))
	}
}

// A connection is reused if its last reply was read to the end.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer      string
		connections int64
	}{
		"no body":        {"HTTP/1.1 204 No Content\r\n\r\n", 1},
		"small":          {fine, 1},
		"chunked":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 1},
		"an error":       {"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno", 1},
		"nearly 64 KiB":  {"HTTP/1.1 200 OK\r\nContent-Length: 65535\r\n\r\n" + strings.Repeat("x", 65535), 1},
		"a large body":   {"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + strings.Repeat("x", 90000), 3},
		"closed by them": {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var connections atomic.Int64
				serve := answering(c.answer)
				s := piped(t, func(conn net.Conn) {
					connections.Add(1)
					serve(conn)
				})
				for range 3 {
					if got := s.Send(t.Context(), testPost("http://127.0.0.1/in")); got.Status == 0 {
						t.Fatalf("got %+v", got)
					}
				}
				if got := connections.Load(); got != c.connections {
					t.Errorf("%d connections, want %d", got, c.connections)
				}
			})
		})
	}
}
