// Package compression compresses replies with zstd or gzip, as the client prefers.
package compression

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// Gzip is the name of the encoding in HTTP.
	Gzip = "gzip"
	// Zstd is the name of the encoding in HTTP.
	Zstd = "zstd"
	// MinSize is the smallest body that is compressed, in bytes. A smaller reply fits into one packet
	// (1,460 bytes) with its headers, so compression would not make it faster.
	MinSize = 1024
)

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
	return w
}}

var zstdWriters = sync.Pool{New: func() any {
	// One goroutine and a small window suffice, because most bodies have some kilobytes.
	w, _ := zstd.NewWriter(io.Discard, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<17))
	return w
}}

// Write compresses body and then tail with the encoding, and writes the result to w. It ignores write
// errors, because only a disconnected client causes them.
func Write(w io.Writer, encoding string, body []byte, tail [][]byte) {
	if encoding == Zstd {
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

// Negotiate returns the encoding that the Accept-Encoding headers prefer (RFC 9110, 12.5.3): zstd,
// gzip, or "" for neither. It returns zstd if the client prefers zstd and gzip equally.
func Negotiate(headers []string) string {
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
	for _, name := range [...]string{Zstd, Gzip} {
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

// best admits one compression at the best level at a time, because the encoder of zstd needs 35 MB at this level.
var best sync.Mutex

// Lazy returns a function that returns body compressed with an encoding, at the best level. It compresses at
// the first call for the encoding. It is safe for concurrent use.
func Lazy(body []byte) func(encoding string) []byte {
	zstandard := sync.OnceValue(func() []byte {
		best.Lock()
		defer best.Unlock()
		w, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
		return w.EncodeAll(body, nil)
	})
	gzipped := sync.OnceValue(func() []byte {
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
		_, _ = w.Write(body)                                       // a write to a buffer never fails
		_ = w.Close()
		return packed.Bytes()
	})
	return func(encoding string) []byte {
		if encoding == Zstd {
			return zstandard()
		}
		return gzipped()
	}
}
