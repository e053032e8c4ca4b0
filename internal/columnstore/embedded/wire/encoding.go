package wire

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"vayu/internal/columnstore/embedded/chdb"
)

// DecodeBody returns the body of a request, decoded from its Content-Encoding and from ClickHouse's own compressed
// blocks (decompress=1).
func DecodeBody(r *http.Request) (io.Reader, error) {
	var body io.Reader = r.Body
	var err error
	switch coding := strings.ToLower(r.Header.Get("Content-Encoding")); coding {
	case "", "identity":
	case "gzip":
		body, err = gzip.NewReader(body)
	case "deflate":
		body, err = zlib.NewReader(body)
	case "br":
		body = brotli.NewReader(body)
	case "zstd":
		body, err = newZstd(body)
	case "lz4":
		body = lz4.NewReader(body)
	default:
		return nil, chdb.NewException(CodeNotImplemented, "NOT_IMPLEMENTED", "Unknown Content-Encoding %q", coding)
	}
	if err != nil {
		return nil, ReadError(err)
	}
	if On(r.URL.Query().Get("decompress")) {
		body = compress.NewReader(body)
	}
	return body, nil
}

// zstdMemory limits the window size that a body in zstd may declare, in bytes.
const zstdMemory = 64 << 20

func newZstd(body io.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(zstdMemory))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// Encoder compresses a reply. Close writes the rest of the data, but does not close the reply.
type Encoder interface {
	io.WriteCloser
	Flush() error
}

// NewEncoder returns an encoder that the request accepts, or nil. `name` is its Content-Encoding; "" for compress=1.
func NewEncoder(r *http.Request, w io.Writer) (e Encoder, name string) {
	values := r.URL.Query()
	if On(values.Get("compress")) {
		method := compress.LZ4
		if strings.EqualFold(values.Get("network_compression_method"), "zstd") {
			method = compress.ZSTD
		}
		return &blockEncoder{w: w, c: compress.NewWriter(compress.LevelZero, method)}, ""
	}
	if !On(values.Get("enable_http_compression")) {
		return nil, ""
	}
	accept := strings.ToLower(r.Header.Get("Accept-Encoding"))
	switch {
	case strings.Contains(accept, "lz4"):
		return lz4.NewWriter(w), "lz4"
	case strings.Contains(accept, "zstd"):
		if z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)); err == nil {
			return z, "zstd"
		}
	case strings.Contains(accept, "br"):
		return brotli.NewWriterLevel(w, brotli.BestSpeed), "br"
	case strings.Contains(accept, "gzip"):
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
		return z, "gzip"
	case strings.Contains(accept, "deflate"):
		z, _ := zlib.NewWriterLevel(w, zlib.BestSpeed)
		return z, "deflate"
	}
	return nil, ""
}

// blockEncoder is an Encoder that writes ClickHouse's own compressed blocks.
type blockEncoder struct {
	w io.Writer
	c *compress.Writer
}

// blockSize is the maximum size of a block before compression: ClickHouse's default of max_compress_block_size.
const blockSize = 1 << 20

func (b *blockEncoder) Write(p []byte) (n int, err error) {
	for n < len(p) {
		part := p[n:min(len(p), n+blockSize)]
		if err := b.c.Compress(part); err != nil {
			return n, err
		}
		if _, err := b.w.Write(b.c.Data); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

func (*blockEncoder) Flush() error { return nil }
func (*blockEncoder) Close() error { return nil }

// ReadError returns the error for a body that cannot be read: it does not decompress, or the client has disconnected.
func ReadError(err error) error {
	if known, ok := errors.AsType[*chdb.Exception](err); ok {
		return known
	}
	return chdb.NewException(CodeDecompress, "CANNOT_DECOMPRESS", "The body cannot be read: %v", err)
}

// On parses a boolean URL parameter as ClickHouse does.
func On(value string) bool { return value == "1" || strings.EqualFold(value, "true") }
