package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"sync"
)

// headerBlock holds the reply headers that the router itself writes: request id, version, limits, a
// dozen lines. Setting them in net/http's map, which is copied and sorted, would take a third of
// the time of a request. On HTTP/1 the lines are therefore formatted here, and the connection
// inserts them after the status line. On HTTP/2, and on connections without our Listener, they go
// into the map.
type headerBlock struct {
	lines []byte
	whole []byte // the first write of the reply, including the lines
}

var headerBlocks = sync.Pool{New: func() any { return &headerBlock{lines: make([]byte, 0, 512), whole: make([]byte, 0, 2048)} }}

// maxPooled is the largest buffer that is reused, so that one long reply does not stay in memory.
// The server writes at most 4 KiB at once before the rest of a body.
const maxPooled = 8 << 10

// release returns a block to the pool.
func (h *headerBlock) release() {
	if cap(h.whole) <= maxPooled {
		h.lines = h.lines[:0]
		headerBlocks.Put(h)
	}
}

// into returns p, which starts with a status line, with the lines inserted after that.
func (h *headerBlock) into(p []byte) []byte {
	cut := bytes.IndexByte(p, '\n') + 1
	h.whole = append(append(append(h.whole[:0], p[:cut]...), h.lines...), p[cut:]...)
	return h.whole
}

// set writes one of the router's headers. value must be free of line breaks.
func (x *exchange) set(name string, value []byte) {
	if x.head == nil {
		x.Header()[name] = []string{string(value)}
		return
	}
	x.head.line(name)
	x.head.lines = append(append(x.head.lines, value...), "\r\n"...)
}

// constant is set for an existing value, in net/http's form.
func (x *exchange) constant(name string, value []string) {
	if x.head == nil {
		x.Header()[name] = value
		return
	}
	x.head.line(name)
	x.head.lines = append(append(x.head.lines, value[0]...), "\r\n"...)
}

func (h *headerBlock) line(name string) { h.lines = append(append(h.lines, name...), ": "...) }

// begin ends the router's part of the header and returns the writer of the reply. The connection
// owns the block from then on. It releases it with the next status line, even of another reply.
func (x *exchange) begin() http.ResponseWriter {
	x.head = nil
	return x.ResponseWriter
}

type connKey struct{}

// withConn stores a connection in the context of its requests; it is the server's ConnContext.
func withConn(ctx context.Context, c interface{ begin() *headerBlock }) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// ambiguous reports whether a request may have had both Content-Length and Transfer-Encoding. A
// proxy may then see another end of it, so the connection is closed after the reply (RFC 9112,
// 6.1). The headers are removed by net/http, so the connection records whether any of its requests
// had a Content-Length.
func ambiguous(r *http.Request) bool {
	if len(r.TransferEncoding) == 0 || r.ProtoMajor != 1 {
		return false
	}
	c, ok := r.Context().Value(connKey{}).(interface{ hadLength() bool })
	return ok && c.hadLength()
}

// headOf returns the header block for the reply to r; nil if its connection has none.
func headOf(r *http.Request) *headerBlock {
	if c, ok := r.Context().Value(connKey{}).(interface{ begin() *headerBlock }); ok && r.ProtoMajor == 1 {
		return c.begin()
	}
	return nil
}
