// Package compression compresses replies with zstd, brotli or gzip, as the client prefers.
package compression

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// Brotli is the name of the encoding in HTTP.
	Brotli = "br"
	// Gzip is the name of the encoding in HTTP.
	Gzip = "gzip"
	// Zstd is the name of the encoding in HTTP.
	Zstd = "zstd"
	// MinSize is the smallest body that is compressed, in bytes. A smaller reply fits into one packet
	// (1,460 bytes) with its headers, so compression would not make it faster.
	MinSize = 1024
)

// writer has the methods that all encoders have.
type writer interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// writers has a pool of fast encoders for each encoding. Write takes an encoder from a pool and returns it.
var writers = map[string]*sync.Pool{
	Brotli: {New: func() any { return brotli.NewWriterV2(io.Discard, 1) }},
	Gzip: {New: func() any {
		w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
		return w
	}},
	Zstd: {New: func() any {
		// One goroutine and a small window suffice, because most bodies have some kilobytes.
		w, _ := zstd.NewWriter(io.Discard, zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<17))
		return w
	}},
}

// Write compresses body and then tail with the encoding, and writes the result to w. It ignores write
// errors, because only a disconnected client causes them.
func Write(w io.Writer, encoding string, body []byte, tail [][]byte) {
	z := writers[encoding].Get().(writer)
	defer writers[encoding].Put(z)
	z.Reset(w)
	_, _ = z.Write(body)
	for _, part := range tail {
		_, _ = z.Write(part)
	}
	_ = z.Close()
}

// The encodings in order of preference: eachTime for bodies that are compressed for each request, onlyOnce for bodies
// that are compressed once. At the levels of Write, 100 kB of JSON need 0.2 ms with gzip or zstd, and 0.5 ms with
// brotli. The output of brotli is 2 to 13 % smaller than that of gzip, which is worth the time only for onlyOnce.
var eachTime, onlyOnce = [...]string{Zstd, Gzip, Brotli}, [...]string{Zstd, Brotli, Gzip}

// Negotiate returns the encoding that the Accept-Encoding headers prefer (RFC 9110, 12.5.3): zstd, br, gzip, or "" for
// none. If the headers give several encodings the same weight, the order is zstd, br, gzip if `once` is true (the body
// is compressed only once), and otherwise zstd, gzip, br.
func Negotiate(headers []string, once bool) string {
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
	order := eachTime
	if once {
		order = onlyOnce
	}
	for _, name := range order {
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

// best admits one compression of Lazy at a time, because the encoder of zstd needs 35 MB at its best level.
var best sync.Mutex

// brotliLevel is the brotli level of Lazy. It needs 0.1 s for 800 kB. Level 11, the best, needs 2.5 s and saves 9 %.
const brotliLevel = 9

// Lazy returns a function that returns body compressed with an encoding: with brotli at brotliLevel, otherwise at the
// best level. The function compresses at the first call for an encoding, and is safe for concurrent use.
func Lazy(body []byte) func(encoding string) []byte {
	return memo(func(encoding string) []byte {
		best.Lock()
		defer best.Unlock()
		var packed bytes.Buffer
		var w writer
		switch encoding {
		case Brotli:
			w = brotli.NewWriterLevel(&packed, brotliLevel)
		case Zstd:
			z, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
			return z.EncodeAll(body, nil)
		default:
			w, _ = gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
		}
		_, _ = w.Write(body) // a write to a buffer never fails
		_ = w.Close()
		return packed.Bytes()
	})
}

// Once does the same as [Lazy], at the lower level of [Write]. It is for bodies that change each hour.
func Once(body []byte) func(encoding string) []byte {
	return memo(func(encoding string) []byte {
		var packed bytes.Buffer
		Write(&packed, encoding, body, nil)
		return packed.Bytes()
	})
}

// memo returns a function that calls `pack` at most once for each encoding, and keeps the results.
func memo(pack func(encoding string) []byte) func(encoding string) []byte {
	forms := map[string]func() []byte{}
	for encoding := range writers {
		forms[encoding] = sync.OnceValue(func() []byte { return pack(encoding) })
	}
	return func(encoding string) []byte { return forms[encoding]() }
}

// Supported reports whether an encoding is one of this package.
func Supported(encoding string) bool { return writers[encoding] != nil }
