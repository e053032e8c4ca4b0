package httpapi

import (
	"bufio"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"vayu/internal/httpapi/server"
)

// pieceMost is the size at which buffered bytes of a stream are sent without a call of Flush.
const pieceMost = 32 << 10

// Limits of a piece of an endless stream: its size and the time to send it. The buffer is small because there
// may be thousands of streams. The time is short because a client that does not read must not delay a shutdown.
const (
	endlessMost  = 4 << 10
	endlessWrite = 5 * time.Second
)

// stream writes a reply in pieces. If the stream fails, it aborts the connection. The status is already sent,
// so only the abort shows the client that the rest is missing.
func (rt *router) stream(w http.ResponseWriter, c *Call, resp *Response) (status int) {
	h := w.Header()
	h["Cache-Control"], h["Content-Type"] = noStore, jsonType
	if resp.Type != nil {
		h["Content-Type"] = resp.Type
	}
	if resp.Endless {
		h["X-Accel-Buffering"] = unbuffered
	}
	w.WriteHeader(resp.Status)
	if c.Method == http.MethodHead {
		return resp.Status
	}
	p := newPieces(w, resp.Endless)
	err := resp.Stream(p)
	if err == nil {
		err = p.Writer.Flush()
	}
	if err != nil {
		if c.Context().Err() == nil {
			level := slog.LevelWarn
			if resp.Endless {
				level = slog.LevelDebug
			}
			rt.log.Log(c.Context(), level, "a stream ended early", "request", c.ID, "path", pathOf(c.Request), "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	return resp.Status
}

// pieces buffers a stream and sends the buffer as one piece when it is flushed or full. It implements
// [Flusher].
type pieces struct {
	*bufio.Writer

	control *http.ResponseController
	endless bool
}

func newPieces(w http.ResponseWriter, endless bool) *pieces {
	p := &pieces{control: http.NewResponseController(w), endless: endless}
	size, each := pieceMost, server.WriteTimeout
	if endless {
		size, each = endlessMost, endlessWrite
	}
	p.Writer = bufio.NewWriterSize(deadlined{w, p.control, each}, size)
	return p
}

// Flush sends the buffered bytes to the client. It implements [Flusher].
func (p *pieces) Flush() error {
	if err := p.Writer.Flush(); err != nil {
		return err
	}
	if err := unlessUnsupported(p.control.Flush()); err != nil || !p.endless {
		return err
	}
	// HTTP/2 ends a stream when a deadline passes, even between two pieces. Hence there is no
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

// unlessUnsupported returns err, or nil if the writer has no deadlines, as in tests.
func unlessUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
