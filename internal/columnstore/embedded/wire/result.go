package wire

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// headBytes and headTime limit how much of a result is collected before the first byte of the reply. If the result ends
// within these limits, the reply's headers state its length and counters, and an error determines the reply's status.
const (
	headBytes = 1 << 20
	headTime  = 100 * time.Millisecond
)

// Result is the end of a pipe from which the result of a query is read.
type Result struct {
	*os.File

	mu    sync.Mutex
	ended bool
}

// Head reads the beginning of a result. The result `whole` is true if nothing follows `head`.
func (r *Result) Head() (head []byte, whole bool) {
	head = make([]byte, headBytes)
	n, err := r.Read(head)
	if err != nil {
		return head[:n], true
	}
	r.limit(time.Now().Add(headTime)) // os.File supports deadlines for a pipe
	m, err := io.ReadFull(r, head[n:])
	r.limit(time.Time{})
	return head[:n+m], err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// limit sets the deadline of reads, unless the result has ended.
func (r *Result) limit(deadline time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		_ = r.SetReadDeadline(deadline)
	}
}

// End makes all reads fail from now on, although the engine may still write.
func (r *Result) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	_ = r.SetReadDeadline(time.Unix(1, 0))
}

// CloseAfter closes the pipe. If `left` is true, the engine may still write. CloseAfter then reads to the end in the
// background before it closes the pipe, because the engine must not write to a closed pipe.
func (r *Result) CloseAfter(left bool) {
	if !left {
		_ = r.File.Close()
		return
	}
	go func() {
		_ = r.SetReadDeadline(time.Time{})
		_, _ = io.Copy(io.Discard, r.File)
		_ = r.File.Close()
	}()
}
