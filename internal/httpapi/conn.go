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

// conn is an HTTP/1 connection. It replaces net/http's own error replies by JSON bodies as the API's
// description requires, and inserts the router's header lines. All writes come from one goroutine at a time.
type conn struct {
	net.Conn
	head *headerBlock // header lines for the next reply; nil for none
	// routed is true from the router's start of a request until net/http has finished the request. Bytes that
	// are written meanwhile come from the router, even if they look like an error of net/http.
	routed  bool
	refused prometheus.Counter
	secure  bool
	matched int         // bytes of lengthName that the last read bytes match; only for the reading goroutine
	length  atomic.Bool // whether a Content-Length was read
}

// lengthName is the start of a header line, in lower case. It has no blank before the colon, because net/http
// rejects one.
const lengthName = "\ncontent-length:"

// Read reads from the connection and looks for a Content-Length header. It implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.length.Load() {
		c.scan(p[:n])
	}
	return n, err
}

// hadLength reports whether any request of the connection had a Content-Length. Similar text in a body counts
// too. The only effect is that a connection is closed after a reply.
func (c *conn) hadLength() bool { return c.length.Load() }

// scan searches the read bytes for lengthName, which may be split between two reads.
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

// secureConn is a conn over TLS. net/http calls ConnectionState to set Request.TLS.
type secureConn struct {
	*conn
	tls *tls.Conn
}

// ConnectionState returns the TLS state of the connection.
func (c secureConn) ConnectionState() tls.ConnectionState { return c.tls.ConnectionState() }

// CloseWrite closes the sending direction only. net/http calls it before Close, so that a client that is still
// sending can read an error.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return net.ErrClosed
}

// begin returns the block of header lines for the next reply. The router calls it when it starts a request.
func (c *conn) begin() *headerBlock {
	c.routed = true
	if c.head == nil { // else the last request of the connection got no reply
		c.head = headerBlocks.Get().(*headerBlock)
	}
	c.head.lines = c.head.lines[:0]
	return c.head
}

// end marks the request as finished. The server calls it after the whole reply is written.
func (c *conn) end() { c.routed = false }

// Write sends p, with the router's header lines after a status line. A status line can only be at the start of
// p, because net/http flushes its buffer after each reply. Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	const informational = "HTTP/1.1 1"
	if !bytes.HasPrefix(p, []byte("HTTP/1.")) || bytes.HasPrefix(p, []byte(informational)) {
		return c.Conn.Write(p)
	}
	if status, text, ok := parseServerError(p); ok && !c.routed {
		if c.refused != nil {
			c.refused.Inc()
		}
		if _, err := c.Conn.Write(errorReply(status, text, c.secure)); err != nil {
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

// parseServerError recognises the error replies that net/http itself sends to malformed requests. net/http
// sends each one as a single write of known text. Any other text is not such an error.
func parseServerError(p []byte) (status int, text string, ok bool) {
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
	code, reason, _ := strings.Cut(line, " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return 0, "", false
	}
	_, text, _ = strings.Cut(reason, ": ")
	return status, text, true
}

// expectationFailed recognises the one error of net/http that has headers like a handler's reply. p is the
// reply without "HTTP/1.x ".
func expectationFailed(p []byte) bool {
	const before, after = "417 Expectation Failed\r\nConnection: close\r\nDate: ", "\r\nContent-Length: 0\r\n\r\n"
	return len(p) == len(before)+len(http.TimeFormat)+len(after) &&
		bytes.HasPrefix(p, []byte(before)) && bytes.HasSuffix(p, []byte(after))
}

// errorReply returns the bytes of the reply to a malformed request: status line, headers and JSON body.
func errorReply(status int, text string, secure bool) []byte {
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
	body, err := json.Marshal(schema.NewProblem(schema.InvalidRequest, "", message).Body(id))
	if err != nil {
		body = nil // impossible: the body has only strings and a number
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
