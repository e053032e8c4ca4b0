package httpapi

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Static returns a handler for Config.Open (paths that need no key) that always sends the same body. The body
// is compressed in advance with the best level, because requests without a key must be cheap.
func Static(resp Response) (http.Handler, error) {
	if err := resp.render(); err != nil {
		return nil, fmt.Errorf("writing a page: %w", err)
	}
	var z bytes.Buffer
	g, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compressing a page: %w", err)
	}
	if _, err := g.Write(resp.Body); err != nil {
		return nil, fmt.Errorf("compressing a page: %w", err)
	}
	if err := g.Close(); err != nil {
		return nil, fmt.Errorf("compressing a page: %w", err)
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, fmt.Errorf("compressing a page: %w", err)
	}
	resp.packed = map[string][]byte{gzipName: z.Bytes(), zstdName: e.EncodeAll(resp.Body, nil)}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("compressing a page: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { write(w, r, &resp) }), nil
}
