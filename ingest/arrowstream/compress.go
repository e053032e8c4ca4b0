package arrowstream

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codec is the compression method of the buffers.
type codec int8

const (
	plain codec = iota
	lz4Codec
	zstdCodec
)

// decompressor decompresses the buffers of one stream.
type decompressor struct {
	zstd *zstd.Decoder // nil before the first use
	lz4  *lz4.Reader
}

// decompress decompresses a buffer. A result that has not exactly `size` bytes is an error.
func (d *decompressor) decompress(c codec, part []byte, size int) ([]byte, error) {
	var out []byte
	var err error
	if c == zstdCodec {
		if d.zstd == nil {
			d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBytes), zstd.WithDecodeAllCapLimit(true))
		}
		if err == nil {
			out, err = d.zstd.DecodeAll(part, make([]byte, 0, size))
		}
	} else {
		if d.lz4 == nil {
			d.lz4 = lz4.NewReader(nil)
		}
		d.lz4.Reset(bytes.NewReader(part))
		out = make([]byte, size)
		if _, err = io.ReadFull(d.lz4, out); err == nil {
			if n, _ := d.lz4.Read(make([]byte, 1)); n > 0 {
				err = io.ErrShortBuffer
			}
		}
	}
	if err != nil || len(out) != size {
		return nil, fault("", "A compressed buffer cannot be read, or is not as long as it claims.")
	}
	return out, nil
}

// close frees the memory of the decompressors.
func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}
