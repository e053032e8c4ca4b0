package httpapi

import (
	"fmt"
	"net/http"

	"vayu/internal/httpapi/compression"
)

// Static returns a handler for Config.Open (paths that need no key) that always sends the same body. The body
// is compressed in advance with the best level, because requests without a key must be cheap.
func Static(resp Response) (http.Handler, error) {
	if err := resp.render(); err != nil {
		return nil, fmt.Errorf("writing a page: %w", err)
	}
	var err error
	if resp.packed, err = compression.Precompress(resp.Body); err != nil {
		return nil, fmt.Errorf("compressing a page: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { write(w, r, &resp) }), nil
}
