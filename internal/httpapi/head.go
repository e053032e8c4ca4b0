package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"sync"
)

// head is the part of a reply's header that the router itself writes: request
// id, version, limits, a dozen lines. Each of them in net/http's map would cost
// a place in it, one in the copy that net/http makes, and one in sorting; all
// that together is a third of a whole request. So on HTTP/1 the lines are made
// ready here, and the connection puts them behind the status line. On HTTP/2,
// and on connections that no Listener has accepted, they go into the map.
type head struct {
	lines []byte
	whole []byte // the first write of the reply with the lines in it
}

var heads = sync.Pool{New: func() any { return &head{lines: make([]byte, 0, 512), whole: make([]byte, 0, 2048)} }}

// maxPooled is the largest buffer that is kept, so that one long reply does not
// stay in memory: net/http writes 4 KiB at once at most before a body's rest.
const maxPooled = 8 << 10

// release gives a head back for the next reply.
func (h *head) release() {
	if cap(h.whole) <= maxPooled {
		h.lines = h.lines[:0]
		heads.Put(h)
	}
}

// into returns p, which begins with a status line, with the lines behind that.
func (h *head) into(p []byte) []byte {
	cut := bytes.IndexByte(p, '\n') + 1
	h.whole = append(append(append(h.whole[:0], p[:cut]...), h.lines...), p[cut:]...)
	return h.whole
}

// set writes a header of the router's own, whose value must be free of line
// breaks.
func (x *exchange) set(name string, value []byte) {
	if x.head == nil {
		x.Header()[name] = []string{string(value)}
		return
	}
	x.head.line(name)
	x.head.lines = append(append(x.head.lines, value...), "\r\n"...)
}

// constant is set for a value that is there already, as net/http wants it.
func (x *exchange) constant(name string, value []string) {
	if x.head == nil {
		x.Header()[name] = value
		return
	}
	x.head.line(name)
	x.head.lines = append(append(x.head.lines, value[0]...), "\r\n"...)
}

func (h *head) line(name string) { h.lines = append(append(h.lines, name...), ": "...) }

// begin ends the router's part of the header and returns what to write the reply
// to. From then on the head is the connection's, which gives it back as soon as
// the status line goes out, maybe to another reply.
func (x *exchange) begin() http.ResponseWriter {
	x.head = nil
	return x.ResponseWriter
}

type connKey struct{}

// withConn is the server's ConnContext: it lets a request find its connection.
func withConn(ctx context.Context, c interface{ begin() *head }) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// ambiguous reports whether a request may have come with both Content-Length and
// Transfer-Encoding: then a proxy in front may see another end of it, and the
// connection is closed after the reply (RFC 9112, 6.1). net/http removes both headers,
// so the connection remembers whether any of its requests had a Content-Length.
func ambiguous(r *http.Request) bool {
	if len(r.TransferEncoding) == 0 || r.ProtoMajor != 1 {
		return false
	}
	c, ok := r.Context().Value(connKey{}).(interface{ hadLength() bool })
	return ok && c.hadLength()
}

// headOf returns the head for the reply to r, nil when its connection takes none.
func headOf(r *http.Request) *head {
	if c, ok := r.Context().Value(connKey{}).(interface{ begin() *head }); ok && r.ProtoMajor == 1 {
		return c.begin()
	}
	return nil
}
