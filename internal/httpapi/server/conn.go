package server

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
)

// conn is an HTTP/1 connection. It inserts the router's header lines into each reply. All writes come from one
// goroutine at a time.
type conn struct {
	net.Conn
	head    *HeaderBlock // header lines for the next reply; nil for none
	matched int          // number of bytes of lengthName that the last read bytes match; for the reading goroutine only
	length  atomic.Bool  // whether a Content-Length was read
}

// lengthName is the start of a Content-Length header line, in lower case. It has no blank before
// the colon, because net/http rejects a header with such a blank.
const lengthName = "\ncontent-length:"

// Read reads from the connection and looks for a Content-Length header. It implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.length.Load() {
		c.scan(p[:n])
	}
	return n, err
}

// hadLength reports whether any request of the connection so far had a Content-Length. It also returns true if
// a body contained the text of that header line. The only effect of this mistake is that the connection is
// closed after a reply.
func (c *conn) hadLength() bool { return c.length.Load() }

// Ambiguous reports whether a request may have had both Content-Length and Transfer-Encoding. A proxy and this server
// can disagree where such a request ends. The server therefore closes the connection after the reply (RFC 9112, 6.1).
//
// net/http removes the Content-Length of such a request, so conn records whether any request of the connection had a
// Content-Length. Ambiguous may therefore return true for a request that had only Transfer-Encoding.
func Ambiguous(r *http.Request) bool {
	if len(r.TransferEncoding) == 0 || r.ProtoMajor != 1 {
		return false
	}
	c, ok := r.Context().Value(connKey{}).(interface{ hadLength() bool })
	return ok && c.hadLength()
}

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

// ConnectionState returns the state of the TLS connection. net/http recognizes a TLS connection by this method.
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

// Write sends p. If p starts with a status line, except 1xx, Write inserts the router's header lines after that line.
// The rest of p contains no other status line, because net/http flushes after each reply. It implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	const informational = "HTTP/1.1 1"
	if !bytes.HasPrefix(p, []byte("HTTP/1.")) || bytes.HasPrefix(p, []byte(informational)) {
		return c.Conn.Write(p)
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
