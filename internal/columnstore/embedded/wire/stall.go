// Package wire reads and decompresses request bodies, compresses replies, and sets deadlines for slow clients.
package wire

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"vayu/internal/columnstore/embedded/chdb"
)

// stallTime is how long a client may take to read a chunk of the reply, or pause while it sends a body. If it takes
// longer, its statement ends, because each statement occupies one of few slots. ClickHouse's own limit is 30 s between
// two packets (http_send_timeout, http_receive_timeout).
const stallTime = time.Minute

// leastRate is the least rate of a body or a reply after its first minute, in bytes a second. Only the time of waiting
// for the client counts. A result of 1 GB may take a day.
const leastRate = 10_000

// pace is how fast a client reads or sends.
type pace struct {
	bytes int64
	spent time.Duration // on waiting for the client
}

// left returns how long the client may take to read or send the next bytes.
func (p *pace) left() time.Duration {
	return min(stallTime, stallTime+time.Duration(p.bytes)*(time.Second/leastRate)-p.spent)
}

func (p *pace) add(n int, began time.Time) {
	p.bytes, p.spent = p.bytes+int64(n), p.spent+time.Since(began)
}

// Codes of ClickHouse's src/Common/ErrorCodes.cpp.
const (
	CodeNotImplemented = 48
	CodeSocketTimeout  = 209
	CodeDecompress     = 271
)

// ChunkBytes is the size of a chunk of a reply. Each chunk has a deadline of its own.
const ChunkBytes = 64 << 10

// Writer is a reply with a deadline for each chunk.
type Writer struct {
	http.ResponseWriter
	Until time.Time // deadline of the whole reply, zero for none

	control *http.ResponseController
	pace    pace
}

// Limit returns the reply with deadlines. It also replaces the body of the request by a body with deadlines.
func Limit(w http.ResponseWriter, r *http.Request) *Writer {
	control := http.NewResponseController(w)
	r.Body = &reader{ReadCloser: r.Body, control: control}
	return &Writer{ResponseWriter: w, control: control}
}

// extend sets the deadline of the next chunk. It applies stallTime and leastRate, and w.Until is the latest deadline.
// The writer of a test may have no deadlines, so errors are ignored.
func (w *Writer) extend() {
	deadline := time.Now().Add(w.pace.left())
	if !w.Until.IsZero() && w.Until.Before(deadline) {
		deadline = w.Until
	}
	_ = w.control.SetWriteDeadline(deadline)
}

// Write sends p in chunks.
func (w *Writer) Write(p []byte) (n int, err error) {
	for first := true; first || n < len(p) && err == nil; first = false {
		w.extend()
		began := time.Now()
		m, failed := w.ResponseWriter.Write(p[n:min(len(p), n+ChunkBytes)])
		w.pace.add(m, began)
		n, err = n+m, failed
	}
	return n, err
}

// FlushError sends what is buffered.
func (w *Writer) FlushError() error {
	w.extend()
	return w.control.Flush()
}

// reader is the body of a request. Each read has a deadline, which also enforces leastRate for the body so far.
type reader struct {
	io.ReadCloser
	control *http.ResponseController
	pace    pace
}

// Read reads from the body, and then removes the deadline. While the statement runs, net/http reads from the
// connection, and would treat an exceeded deadline as a disconnect of the client.
func (r *reader) Read(p []byte) (int, error) {
	began, left := time.Now(), r.pace.left()
	_ = r.control.SetReadDeadline(began.Add(left))
	n, err := r.ReadCloser.Read(p)
	r.pace.add(n, began)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if left.Round(time.Second) < stallTime {
			return n, chdb.NewException(CodeSocketTimeout, "SOCKET_TIMEOUT", "The client sent %d bytes of the body in %s. After the first minute the least rate is %d bytes a second",
				r.pace.bytes, r.pace.spent.Round(time.Second), leastRate)
		}
		return n, chdb.NewException(CodeSocketTimeout, "SOCKET_TIMEOUT", "The client sent nothing of the body for %s", stallTime)
	}
	_ = r.control.SetReadDeadline(time.Time{})
	return n, err
}
