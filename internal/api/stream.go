package api

import (
	"bufio"
	"errors"
	"net/http"
	"time"
)

// pieceMost is how much of a stream is held back at most before it is sent.
const pieceMost = 32 << 10

// stream writes a reply piece by piece. A stream that fails aborts the connection:
// its status is gone, and nothing else tells a client that the rest is missing.
func (rt *router) stream(w http.ResponseWriter, c *Call, resp *Response) (status int) {
	h := w.Header()
	h["Cache-Control"], h["Content-Type"] = noStore, jsonType
	if resp.Type != nil {
		h["Content-Type"] = resp.Type
	}
	w.WriteHeader(resp.Status)
	if c.Method == http.MethodHead {
		return resp.Status
	}
	p := &pieces{control: http.NewResponseController(w)}
	p.Writer = bufio.NewWriterSize(deadlined{w, p.control}, pieceMost)
	err := resp.Stream(p)
	if err == nil {
		err = p.Writer.Flush()
	}
	if err != nil {
		if c.Context().Err() == nil {
			rt.log.WarnContext(c.Context(), "a stream ended early", "request", c.ID, "path", pathOf(c.Request), "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	return resp.Status
}

// pieces is the Flusher of a stream.
type pieces struct {
	*bufio.Writer
	control *http.ResponseController
}

// Flush implements Flusher.
func (p *pieces) Flush() error {
	if err := p.Writer.Flush(); err != nil {
		return err
	}
	return unlessUnsupported(p.control.Flush())
}

// deadlined gives every write as long as a whole reply may take.
type deadlined struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// Write implements io.Writer.
func (d deadlined) Write(p []byte) (int, error) {
	if err := unlessUnsupported(d.control.SetWriteDeadline(time.Now().Add(writeAll))); err != nil {
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
