package server

import (
	"bufio"
	"errors"
	"net/http"
	"time"
)

// pieceMost is the size of a stream's buffer, in bytes. A full buffer is sent even without a call of Flush.
const pieceMost = 32 << 10

// Limits of a piece of an endless stream: its size and the time to send it. The buffer is small because there
// may be thousands of streams. The time is short because a client that does not read must not delay a shutdown.
const (
	endlessMost  = 4 << 10
	endlessWrite = 5 * time.Second
)

// Pieces buffers a stream and sends the buffer as one piece when it is flushed or full. It implements httpapi.Flusher.
type Pieces struct {
	*bufio.Writer

	control *http.ResponseController
	endless bool
}

// NewPieces returns the buffer of a reply. An endless stream has a small buffer and a short time limit.
func NewPieces(w http.ResponseWriter, endless bool) *Pieces {
	p := &Pieces{control: http.NewResponseController(w), endless: endless}
	size, each := pieceMost, WriteTimeout
	if endless {
		size, each = endlessMost, endlessWrite
	}
	p.Writer = bufio.NewWriterSize(deadlined{w, p.control, each}, size)
	return p
}

// Flush sends the buffered bytes to the client.
func (p *Pieces) Flush() error {
	if err := p.Writer.Flush(); err != nil {
		return err
	}
	if err := unlessUnsupported(p.control.Flush()); err != nil || !p.endless {
		return err
	}
	// HTTP/2 ends a stream when its write deadline passes, even between two pieces. An endless stream therefore has no
	// deadline until the next write.
	return unlessUnsupported(p.control.SetWriteDeadline(time.Time{}))
}

// deadlined is a writer that sets a new deadline before every write.
type deadlined struct {
	w       http.ResponseWriter
	control *http.ResponseController
	each    time.Duration
}

// Write implements io.Writer.
func (d deadlined) Write(p []byte) (int, error) {
	if err := unlessUnsupported(d.control.SetWriteDeadline(time.Now().Add(d.each))); err != nil {
		return 0, err
	}
	return d.w.Write(p)
}

// unlessUnsupported returns err, or nil if err means that the writer, as in tests, cannot flush or has no deadlines.
func unlessUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
