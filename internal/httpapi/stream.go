package httpapi

import (
	"bufio"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// pieceMost is how much of a stream is held back at most before it is sent.
const pieceMost = 32 << 10

// Limits of a stream without an end: its pieces are small, there may be thousands of
// such streams, and a client that reads none of them must not hold a stop up.
const (
	endlessMost  = 4 << 10
	endlessWrite = 5 * time.Second
)

// stream writes a reply piece by piece. A stream that fails aborts the connection:
// its status is gone, and nothing else tells a client that the rest is missing.
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

// pieces is the Flusher of a stream.
type pieces struct {
	*bufio.Writer

	control *http.ResponseController
	endless bool
}

func newPieces(w http.ResponseWriter, endless bool) *pieces {
	p := &pieces{control: http.NewResponseController(w), endless: endless}
	size, each := pieceMost, writeAll
	if endless {
		size, each = endlessMost, endlessWrite
	}
	p.Writer = bufio.NewWriterSize(deadlined{w, p.control, each}, size)
	return p
}

// Flush implements Flusher.
func (p *pieces) Flush() error {
	if err := p.Writer.Flush(); err != nil {
		return err
	}
	if err := unlessUnsupported(p.control.Flush()); err != nil || !p.endless {
		return err
	}
	// HTTP/2 ends a stream whose deadline passes, also one that has nothing to say.
	return unlessUnsupported(p.control.SetWriteDeadline(time.Time{}))
}

// deadlined gives every write a time of its own.
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

// unlessUnsupported drops the error of a writer that is no connection.
func unlessUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
