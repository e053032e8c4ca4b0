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

// tlsConfig returns the TLS settings of a server with a certificate.
func tlsConfig(certificate tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{certificate}}
}

// listen runs handle for every connection at a loopback address, with TLS unless
// config is nil, and then closes the connection. It returns host:port.
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

// answering reads requests from a connection and writes text for each.
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

// flooding reads a request, and writes head and then text until a write fails. It
// sends the number of bytes to written, unless that is nil.
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

// newSender returns a sender with a timeout that no test reaches.
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
