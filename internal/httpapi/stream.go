package httpapi

import (
	"log/slog"
	"maps"
	"net/http"

	"vayu/internal/httpapi/server"
)

// stream writes a reply in pieces. If resp.Stream or a write fails, stream aborts the connection. The status is
// already sent, so only the abort shows the client that the rest is missing.
func (rt *router) stream(w http.ResponseWriter, c *Call, resp *Response) (status int) {
	h := w.Header()
	h["Cache-Control"], h["Content-Type"] = noStore, jsonType
	maps.Copy(h, resp.Header)
	if resp.Cache != nil {
		h["Cache-Control"] = resp.Cache
	}
	if resp.ETag != nil {
		h["Etag"] = resp.ETag
	}
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
	p := server.NewPieces(w, resp.Endless)
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
