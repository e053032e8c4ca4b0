package httpapi

import (
	"net/http"

	"vayu/internal/httpapi/compression"
)

// Static returns a handler for Config.Open (paths that need no key) that answers every request with resp. The body
// is compressed at a high level, but only once for each encoding, because requests without a key must be cheap. The
// compression happens at the first request for an encoding. At the start of the service, it would take a second
// for the whole dashboard.
func Static(resp Response) http.Handler {
	resp.Status, resp.packed = http.StatusOK, compression.Lazy(resp.Body)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { write(w, r, &resp) })
}
