package embedded

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"vayu/internal/columnstore/embedded/chdb"
)

// stallTime is how long a client may take to read a chunk of its reply, and how long it may send nothing of its body.
// Then its statement ends, because each statement occupies one of few slots. A limit of ClickHouse is 30 s between two
// packets (http_send_timeout, http_receive_timeout).
const stallTime = time.Minute

// stallWriter is a reply with a deadline for each chunk.
type stallWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func newStallWriter(w http.ResponseWriter) *stallWriter {
	return &stallWriter{w, http.NewResponseController(w)}
}

// extend sets the deadline of the next chunk. A writer without deadlines is one of a test.
func (w *stallWriter) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(stallTime)) }

// Write sends p in chunks.
func (w *stallWriter) Write(p []byte) (n int, err error) {
	for first := true; first || n < len(p) && err == nil; first = false {
		w.extend()
		var m int
		m, err = w.ResponseWriter.Write(p[n:min(len(p), n+chunkBytes)])
		n += m
	}
	return n, err
}

// FlushError sends what is buffered.
func (w *stallWriter) FlushError() error {
	w.extend()
	return w.control.Flush()
}

// stallReader is the body of a request with a deadline for each read.
type stallReader struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read reads from the body. Between two reads there is no deadline, because net/http reads from the connection while
// the statement runs, and takes an error for the end of the client.
func (r *stallReader) Read(p []byte) (int, error) {
	_ = r.control.SetReadDeadline(time.Now().Add(stallTime))
	n, err := r.ReadCloser.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, chdb.NewException(codeSocketTimeout, "SOCKET_TIMEOUT", "The client sent nothing of the body for %s", stallTime)
	}
	_ = r.control.SetReadDeadline(time.Time{})
	return n, err
}
