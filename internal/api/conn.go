package api

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/schema"
)

// conn is a connection of HTTP/1. It gives net/http's own refusals the body of
// the contract, and replies the header lines of the router. net/http writes
// from one goroutine at a time.
type conn struct {
	net.Conn
	head    *head // for the reply that has not begun; nil for none
	refused prometheus.Counter
	secure  bool
}

// secureConn is a conn over TLS. net/http asks every connection for this method
// to fill in Request.TLS.
type secureConn struct {
	*conn
	tls *tls.Conn
}

// ConnectionState tells how the connection is secured.
func (c secureConn) ConnectionState() tls.ConnectionState { return c.tls.ConnectionState() }

// CloseWrite lets net/http end its side first, so that a client that is still
// sending can read why it was refused.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return net.ErrClosed
}

// begin gives the next reply a head.
func (c *conn) begin() *head {
	if c.head == nil { // else the last request of the connection got no reply
		c.head = heads.Get().(*head)
	}
	c.head.lines = c.head.lines[:0]
	return c.head
}

// Write implements net.Conn. A status line begins a write: before it the
// buffer was flushed, because the request before was answered.
func (c *conn) Write(p []byte) (int, error) {
	const informational = "HTTP/1.1 1"
	if !bytes.HasPrefix(p, []byte("HTTP/1.")) || bytes.HasPrefix(p, []byte(informational)) {
		return c.Conn.Write(p)
	}
	if status, text, ok := parseRefusal(p); ok {
		if c.refused != nil {
			c.refused.Inc()
		}
		if _, err := c.Conn.Write(refusal(status, text, c.secure)); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	h := c.head
	if h == nil {
		return c.Conn.Write(p)
	}
	c.head = nil
	n, err := c.Conn.Write(h.into(p))
	n = max(0, min(n-len(h.lines), len(p)))
	h.release()
	return n, err
}

// parseRefusal recognises what net/http answers to a request that it cannot
// hand on, with the words that it adds. It is written at once, and these two
// headers directly behind the status line are in no other reply.
func parseRefusal(p []byte) (status int, text string, ok bool) {
	const plain = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	line, _, found := bytes.Cut(p[:min(len(p), 256)], []byte("\r\n"))
	if !found || len(line) < len("HTTP/1.1 400") {
		return 0, "", false
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil || !bytes.HasPrefix(p[len(line):], []byte(plain)) && status != http.StatusExpectationFailed {
		return 0, "", false
	}
	if _, words, found := bytes.Cut(line, []byte(": ")); found {
		text = string(words)
	}
	return status, text, true
}

// refusal is the whole reply to a request that is no HTTP that we speak.
func refusal(status int, text string, secure bool) []byte {
	var message string
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		message = fmt.Sprintf("The header of the request is larger than %d KiB.", maxHeader>>10)
	case http.StatusExpectationFailed:
		message = "The only expectation that can be met is 100-continue."
	case http.StatusNotImplemented:
		message = "The only transfer encoding that is known is chunked."
	case http.StatusHTTPVersionNotSupported:
		message = "The HTTP version is not supported."
	default:
		message = "The request is not valid HTTP."
		if text != "" {
			message = "The request is not valid HTTP: " + text + "."
		}
	}
	id := newRequestID()
	body, err := json.Marshal(schema.Refuse(schema.InvalidRequest, "", message).Body(id))
	if err != nil {
		body = nil // it cannot fail: strings and a number
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\nCache-Control: %s\r\n"+
		"X-Request-Id: %s\r\nX-SERVICE-Version: %s\r\nX-Content-Type-Options: %s\r\n", status, http.StatusText(status),
		time.Now().UTC().Format(http.TimeFormat), jsonType[0], len(body), noStore[0], id, Version, noSniff[0])
	if secure {
		fmt.Fprintf(&b, "Strict-Transport-Security: %s\r\n", onlyTLS[0])
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}
