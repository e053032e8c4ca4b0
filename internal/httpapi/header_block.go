package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"sync"
)

// headerBlock holds the dozen reply headers that the router itself writes, such as the request id and the
// limits. In the map of net/http, which is copied and sorted, they would take a third of the time of a request.
// On HTTP/1 they are therefore formatted here, and conn inserts them after the status line. On HTTP/2, and on
// connections that are not of [NewListener], they go into the map.
type headerBlock struct {
	lines []byte
	whole []byte // the first write of the reply, including the lines
}

var headerBlocks = sync.Pool{New: func() any { return &headerBlock{lines: make([]byte, 0, 512), whole: make([]byte, 0, 2048)} }}

// maxPooled is the largest buffer that is reused, so that one long reply does not stay in memory. Most buffers
// are smaller, because the first write of a reply has at most 4 KiB.
const maxPooled = 8 << 10

// release makes the block available to other connections.
func (h *headerBlock) release() {
	if cap(h.whole) <= maxPooled {
		h.lines = h.lines[:0]
		headerBlocks.Put(h)
	}
}

// into returns a copy of p with the block's lines inserted after the status line, with which p starts.
func (h *headerBlock) into(p []byte) []byte {
	cut := bytes.IndexByte(p, '\n') + 1
	h.whole = append(append(append(h.whole[:0], p[:cut]...), h.lines...), p[cut:]...)
	return h.whole
}

// set writes one of the router's headers. value must not contain line breaks.
func (x *exchange) set(name string, value []byte) {
	if x.head == nil {
		x.Header()[name] = []string{string(value)}
		return
	}
	x.head.line(name)
	x.head.lines = append(append(x.head.lines, value...), "\r\n"...)
}

// constant writes one of the router's headers from an existing value of net/http's header map.
func (x *exchange) constant(name string, value []string) {
	if x.head == nil {
		x.Header()[name] = value
		return
	}
	x.head.line(name)
	x.head.lines = append(append(x.head.lines, value[0]...), "\r\n"...)
}

func (h *headerBlock) line(name string) { h.lines = append(append(h.lines, name...), ": "...) }

// begin ends the router's part of the header and returns the writer for the rest of the reply. The connection
// then owns the header block. It releases the block with the next status line, even if that belongs to another
// reply.
func (x *exchange) begin() http.ResponseWriter {
	x.head = nil
	return x.ResponseWriter
}

type connKey struct{}

// withConn returns a context with the connection, for the requests of the connection.
func withConn(ctx context.Context, c interface{ begin() *headerBlock }) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// ambiguous reports whether a request may have had both Content-Length and Transfer-Encoding. A proxy may see
// another end of such a request than this server, so the connection is closed after the reply (RFC 9112, 6.1).
// Since net/http removes the Content-Length of such a request, conn records whether any of its requests had
// one.
func ambiguous(r *http.Request) bool {
	if len(r.TransferEncoding) == 0 || r.ProtoMajor != 1 {
		return false
	}
	c, ok := r.Context().Value(connKey{}).(interface{ hadLength() bool })
	return ok && c.hadLength()
}

// headOf returns the header block for the reply to r; nil if the headers go into net/http's map.
func headOf(r *http.Request) *headerBlock {
	if c, ok := r.Context().Value(connKey{}).(interface{ begin() *headerBlock }); ok && r.ProtoMajor == 1 {
		return c.begin()
	}
	return nil
}
