package httpapi

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/schema"
)

// conn is a connection of HTTP/1. It gives net/http's own refusals the body of
// the contract, and replies the header lines of the router. net/http writes
// from one goroutine at a time.
type conn struct {
	net.Conn
	head *head // for the reply that has not begun; nil for none
	// taken is from the router's taking a request until net/http is done with
	// it: what is written then is the router's, whatever it looks like.
	taken   bool
	refused prometheus.Counter
	secure  bool
	matched int         // how much of lengthName the last bytes read are; of the one goroutine that reads
	length  atomic.Bool // whether a Content-Length was read
}

// lengthName begins the line of a header. net/http refuses a blank before the colon.
const lengthName = "\ncontent-length:"

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.length.Load() {
		c.scan(p[:n])
	}
	return n, err
}

// hadLength reports whether a request of the connection had a Content-Length. Text of a
// body that looks like the header counts too: it costs a connection and nothing else.
func (c *conn) hadLength() bool { return c.length.Load() }

// scan looks for lengthName in what was read, across reads.
func (c *conn) scan(p []byte) {
	for i := 0; i < len(p); i++ {
		if c.matched == 0 {
			next := bytes.IndexByte(p[i:], '\n')
			if next < 0 {
				return
			}
			i += next
		}
		b := p[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		switch b {
		case lengthName[c.matched]:
			c.matched++
		case '\n':
			c.matched = 1
		default:
			c.matched = 0
		}
		if c.matched == len(lengthName) {
			c.length.Store(true)
			return
		}
	}
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

// begin gives the next reply a head. It is called when a request is taken.
func (c *conn) begin() *head {
	c.taken = true
	if c.head == nil { // else the last request of the connection got no reply
		c.head = heads.Get().(*head)
	}
	c.head.lines = c.head.lines[:0]
	return c.head
}

// end is called when the whole reply is written.
func (c *conn) end() { c.taken = false }

// Write implements net.Conn. A status line begins a write: before it the
// buffer was flushed, because the request before was answered.
func (c *conn) Write(p []byte) (int, error) {
	const informational = "HTTP/1.1 1"
	if !bytes.HasPrefix(p, []byte("HTTP/1.")) || bytes.HasPrefix(p, []byte(informational)) {
		return c.Conn.Write(p)
	}
	if status, text, ok := parseRefusal(p); ok && !c.taken {
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
// hand on, with the words that it adds. It is one write, and all of it is known:
// nothing that is longer, or different somewhere, is one.
func parseRefusal(p []byte) (status int, text string, ok bool) {
	const plain = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	const proto, longest = "HTTP/1.x ", 512
	if len(p) < len(proto) || len(p) > longest {
		return 0, "", false
	}
	if expectationFailed(p[len(proto):]) {
		return http.StatusExpectationFailed, "", true
	}
	line, again, found := strings.Cut(string(p[len(proto):]), plain)
	if !found || again != line && again != "Unsupported transfer encoding" {
		return 0, "", false
	}
	code, words, _ := strings.Cut(line, " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return 0, "", false
	}
	_, text, _ = strings.Cut(words, ": ")
	return status, text, true
}

// expectationFailed recognises the one refusal that net/http writes as it
// writes a handler's reply, without its protocol.
func expectationFailed(p []byte) bool {
	const before, after = "417 Expectation Failed\r\nConnection: close\r\nDate: ", "\r\nContent-Length: 0\r\n\r\n"
	return len(p) == len(before)+len(http.TimeFormat)+len(after) &&
		bytes.HasPrefix(p, []byte(before)) && bytes.HasSuffix(p, []byte(after))
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
