package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi/server"
	"vayu/internal/testing/fixture"
)

// pipes is a listener whose connections are pipes, so that time-outs use a synctest bubble's time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// pipeServer is a server whose connections are pipes with chosen addresses.
type pipeServer struct {
	t      *testing.T
	raw    pipes
	reg    *prometheus.Registry
	resume chan struct{} // ends one request to /wait
}

// withPipeServer runs a test against a server with limits, in a synctest bubble.
func withPipeServer(t *testing.T, most int, limits server.Connections, do func(t *testing.T, c *pipeServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &pipeServer{t: t, raw: make(pipes), reg: prometheus.NewRegistry(), resume: make(chan struct{})}
		l := server.NewListenerOf(c.raw, c.reg, most, limits)
		s := server.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				<-c.resume
			}
			_, _ = io.WriteString(w, "ok")
		}), nil)
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = s.Serve(l)
		}()
		do(t, c)
		s.Close()
		<-served
	})
}

// pipeClient is the client's end of a connection.
type pipeClient struct {
	net.Conn
	in *bufio.Reader
}

// addressed is a connection with a remote address.
type addressed struct {
	net.Conn
	from net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.from }

// dial connects from an address and waits until the server has accepted or closed the connection.
func (c *pipeServer) dial(from string) *pipeClient {
	near, far := net.Pipe()
	c.raw <- addressed{far, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 1))}
	synctest.Wait()
	return &pipeClient{near, bufio.NewReader(near)}
}

// get sends a request and reports whether it was answered.
func (v *pipeClient) get(path string) bool {
	if _, err := fmt.Fprintf(v, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path); err != nil {
		return false
	}
	resp, err := http.ReadResponse(v.in, nil)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, resp.Body)
	synctest.Wait() // until the connection is idle at the server
	return err == nil && resp.StatusCode == http.StatusOK
}

// closed checks the number of connections closed for a reason.
func (c *pipeServer) closed(why string, want float64) {
	c.t.Helper()
	if got := fixture.MetricValue(c.t, c.reg, "vayu_http_connections_closed_total", "reason", why); got != want {
		c.t.Errorf("%v connections were closed for %s, want %v", got, why, want)
	}
}

// answers checks for each client whether it is answered.
func answers(t *testing.T, want bool, all ...*pipeClient) {
	t.Helper()
	for i, v := range all {
		if got := v.get("/"); got != want {
			t.Errorf("visitor %d is answered: %v, want %v", i, got, want)
		}
	}
}

func TestLongestIdleConnectionIsClosed(t *testing.T) {
	t.Parallel()
	withPipeServer(t, 3, server.Connections{}, func(t *testing.T, c *pipeServer) {
		first, second, silent := c.dial("192.0.2.1"), c.dial("192.0.2.2"), c.dial("192.0.2.3")
		answers(t, true, second, first) // the one without a request is now the longest idle
		fourth := c.dial("192.0.2.4")
		answers(t, false, silent)
		answers(t, true, fourth)
		fifth := c.dial("192.0.2.5")
		answers(t, false, second)
		answers(t, true, first, fourth, fifth)
		c.closed("room", 2)
		first.Close()
		synctest.Wait()
		sixth := c.dial("192.0.2.6")
		answers(t, true, fourth, fifth, sixth)
		c.closed("room", 2)
	})
}

func TestAConnectionInUseIsNotClosed(t *testing.T) {
	t.Parallel()
	withPipeServer(t, 2, server.Connections{}, func(t *testing.T, c *pipeServer) {
		ended := make(chan bool, 2)
		one, two := c.dial("192.0.2.1"), c.dial("192.0.2.2")
		for _, v := range []*pipeClient{one, two} {
			go func() { ended <- v.get("/wait") }()
			synctest.Wait()
		}
		third := c.dial("192.0.2.3") // which waits
		c.closed("room", 0)
		c.resume <- struct{}{}
		if !<-ended {
			t.Error("a request under way was cut off")
		}
		answers(t, true, third)
		c.closed("room", 1)
		c.resume <- struct{}{}
		if !<-ended {
			t.Error("a request under way was cut off")
		}
	})
}

func TestConnectionsPerClientAreLimited(t *testing.T) {
	t.Parallel()
	limits := server.Connections{PerAddress: 2, Proxies: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}}
	for name, c := range map[string]struct {
		from   [3]string
		shared bool
	}{
		"one IPv4 address":    {[3]string{"192.0.2.1", "192.0.2.1", "192.0.2.1"}, true},
		"written as IPv6":     {[3]string{"192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1"}, true},
		"one IPv6 network":    {[3]string{"2001:db8::1", "2001:db8::2", "2001:db8:0:0:ff::3"}, true},
		"several addresses":   {[3]string{"192.0.2.1", "192.0.2.2", "192.0.2.1"}, false},
		"several networks":    {[3]string{"2001:db8::1", "2001:db8:0:1::1", "2001:db8::1"}, false},
		"a configured proxy":  {[3]string{"198.51.100.7", "198.51.100.7", "198.51.100.7"}, false},
		"this machine":        {[3]string{"127.0.0.1", "127.0.0.1", "127.0.0.1"}, false},
		"this machine, again": {[3]string{"::1", "::1", "::1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withPipeServer(t, 100, limits, func(t *testing.T, crowd *pipeServer) {
				other := crowd.dial("203.0.113.9") // idle for longer than all of them
				first, second, third := crowd.dial(c.from[0]), crowd.dial(c.from[1]), crowd.dial(c.from[2])
				answers(t, !c.shared, first)
				answers(t, true, second, third, other)
				want := 0.0
				if c.shared {
					want = 1
				}
				crowd.closed("share", want)
			})
		})
	}
}

func TestActiveClientAtItsLimitIsRejected(t *testing.T) {
	t.Parallel()
	withPipeServer(t, 100, server.Connections{PerAddress: 1}, func(t *testing.T, c *pipeServer) {
		ended := make(chan bool, 1)
		busy := c.dial("192.0.2.1")
		go func() { ended <- busy.get("/wait") }()
		synctest.Wait()
		answers(t, false, c.dial("192.0.2.1"))
		answers(t, true, c.dial("192.0.2.2"))
		c.closed("refused", 1)
		c.resume <- struct{}{}
		if !<-ended {
			t.Error("a request under way was cut off")
		}
		answers(t, true, c.dial("192.0.2.1"))
	})
}
