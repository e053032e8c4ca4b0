package httpapi

import (
	"net/http"

	"vayu/internal/httpapi/compression"
)

// Static returns a handler for Config.Open (paths that need no key) that always sends the body of resp. The body
// is compressed once for each encoding, with the best level, because requests without a key must be cheap. The
// first request for an encoding compresses it, because compressing the whole dashboard takes a second.
func Static(resp Response) http.Handler {
	resp.Status, resp.packed = http.StatusOK, compression.Lazy(resp.Body)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { write(w, r, &resp) })
}
