package sender

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// tlsConfig is how a server of an authority speaks TLS.
func tlsConfig(certificate tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{certificate}}
}

// listen serves every connection at a loopback address with handle, and closes
// it then; with TLS unless config is nil. It returns host:port.
func listen(t testing.TB, at string, config *tls.Config, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if config != nil {
		l = tls.NewListener(l, config)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return address
}

// answering reads requests from a connection and writes the text for each.
func answering(text string) func(net.Conn) {
	return func(conn net.Conn) {
		r := bufio.NewReader(conn)
		for {
			if readRequest(r) != nil {
				return
			}
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

// flooding reads a request, writes head, and then text until nobody takes it;
// written, unless nil, hears how many bytes that were.
func flooding(head, text string, written chan<- int) func(net.Conn) {
	return func(conn net.Conn) {
		if readRequest(bufio.NewReader(conn)) != nil {
			return
		}
		total, err := io.WriteString(conn, head)
		for err == nil {
			var n int
			n, err = io.WriteString(conn, text)
			total += n
		}
		if written != nil {
			written <- total
		}
	}
}

func readRequest(r *bufio.Reader) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

// newSender has a time-out that no test comes near.
func newSender(t testing.TB, c Config) *Sender {
	t.Helper()
	c.Timeout = time.Minute
	s := New(c)
	t.Cleanup(s.Close)
	return s
}

func testPost(url string) Post {
	return Post{URL: url, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"id":"evt_1"}`)}
}
