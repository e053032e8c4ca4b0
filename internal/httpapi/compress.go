package httpapi

import (
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	gzipName = "gzip"
	zstdName = "zstd"
	// compressFrom is the smallest body that is compressed, in bytes. A smaller reply fits into one packet
	// (1,460 bytes) with its headers, so compression would not make it faster.
	compressFrom = 1024
)

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
	return w
}}

var zstdWriters = sync.Pool{New: func() any {
	// One goroutine and a small window suffice: bodies are kilobytes.
	w, _ := zstd.NewWriter(io.Discard, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<17))
	return w
}}

// compress writes body and tail in the encoding. It ignores write errors of a disconnected client.
func compress(w io.Writer, encoding string, body []byte, tail [][]byte) {
	if encoding == zstdName {
		z := zstdWriters.Get().(*zstd.Encoder)
		defer zstdWriters.Put(z)
		z.Reset(w)
		_, _ = z.Write(body)
		for _, part := range tail {
			_, _ = z.Write(part)
		}
		_ = z.Close()
		return
	}
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(w)
	_, _ = z.Write(body)
	for _, part := range tail {
		_, _ = z.Write(part)
	}
	_ = z.Close()
}

// negotiate returns the encoding that the Accept-Encoding headers prefer (RFC 9110, 12.5.3): zstd, gzip, or ""
// for neither. It returns zstd if both are equal.
func negotiate(headers []string) string {
	if len(headers) == 0 {
		return ""
	}
	weight := map[string]float64{}
	for _, header := range headers {
		for item := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(item, ";")
			q := 1.0
			if _, value, found := strings.Cut(params, "q="); found {
				var err error
				if q, err = strconv.ParseFloat(strings.TrimSpace(value), 64); err != nil {
					q = 0
				}
			}
			weight[strings.ToLower(strings.TrimSpace(name))] = q
		}
	}
	best, most := "", 0.0
	for _, name := range [...]string{zstdName, gzipName} {
		q, named := weight[name]
		if !named {
			q = weight["*"]
		}
		if q > most {
			best, most = name, q
		}
	}
	if identity, named := weight["identity"]; named && identity > most {
		return ""
	}
	return best
}
