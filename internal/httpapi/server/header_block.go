package server

import (
	"bytes"
	"context"
	"net/http"
	"sync"
)

// HeaderBlock holds the dozen reply headers that the router itself writes, such as the request id and the limits. In
// the header map of net/http, which is copied and sorted, these headers would take a third of the time of a request. On
// HTTP/1, HeaderBlock therefore formats them, and conn inserts them after the status line. On HTTP/2, and on
// connections that are not of [NewListener], the headers go into the map.
type HeaderBlock struct {
	lines []byte
	whole []byte // the first write of the reply, including the lines
}

var headerBlocks = sync.Pool{New: func() any { return &HeaderBlock{lines: make([]byte, 0, 512), whole: make([]byte, 0, 2048)} }}

// maxPooled is the largest capacity of a buffer that is reused, so that no long reply stays in memory. Most
// buffers are smaller, because the first write of a reply has at most 4 KiB.
const maxPooled = 8 << 10

// release makes the block available to other connections, unless its buffer is larger than maxPooled.
func (h *HeaderBlock) release() {
	if cap(h.whole) <= maxPooled {
		h.lines = h.lines[:0]
		headerBlocks.Put(h)
	}
}

// into returns a copy of p with the block's lines inserted after the status line, with which p starts.
func (h *HeaderBlock) into(p []byte) []byte {
	cut := bytes.IndexByte(p, '\n') + 1
	h.whole = append(append(append(h.whole[:0], p[:cut]...), h.lines...), p[cut:]...)
	return h.whole
}

// Add appends a header line. The parameters name and value must not contain line breaks.
func (h *HeaderBlock) Add(name, value string) {
	h.lines = append(append(h.start(name), value...), "\r\n"...)
}

// AddBytes appends a header line, as [HeaderBlock.Add] does, with a value in a byte slice.
func (h *HeaderBlock) AddBytes(name string, value []byte) {
	h.lines = append(append(h.start(name), value...), "\r\n"...)
}

func (h *HeaderBlock) start(name string) []byte { return append(append(h.lines, name...), ": "...) }

// String returns the lines that were added.
func (h *HeaderBlock) String() string { return string(h.lines) }

type connKey struct{}

// WithConn returns a context that contains the connection c. All requests of the connection have this context.
func WithConn(ctx context.Context, c interface{ Begin() *HeaderBlock }) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// HeaderBlockOf returns the header block for the reply to r, or nil if the headers go into net/http's map.
func HeaderBlockOf(r *http.Request) *HeaderBlock {
	if c, ok := r.Context().Value(connKey{}).(interface{ Begin() *HeaderBlock }); ok && r.ProtoMajor == 1 {
		return c.Begin()
	}
	return nil
}

// Begin returns the block of header lines for the next reply. The router calls Begin for each request.
func (c *conn) Begin() *HeaderBlock {
	if c.head == nil { // otherwise the previous request got no reply, and its block can be reused
		c.head = headerBlocks.Get().(*HeaderBlock)
	}
	c.head.lines = c.head.lines[:0]
	return c.head
}
