package file

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"vayu/ingest"
)

// headBytes is the size of the head for format detection. The portal's exports
// have a page of text before their table.
const headBytes = 64 << 10

// source is the bytes of one file, which a parser may open several times.
type source struct {
	path  string // for formats whose station is in the file's name
	start int64
	open  func() (io.ReadCloser, error)
}

// text opens the file's text, decompressed and in UTF-8 without a byte order mark.
// Positions count the bytes of this text.
func (s *source) text() (*textReader, error) {
	in, err := s.open()
	if err != nil {
		return nil, err
	}
	text, err := decode(in)
	if err != nil {
		in.Close()
		return nil, err
	}
	return &textReader{text, in}, nil
}

// textReader is a decoded text with its file.
type textReader struct {
	*bufio.Reader
	file io.Closer
}

// Close closes the file.
func (t *textReader) Close() error { return t.file.Close() }

// decode removes compression, UTF-16 and byte order marks. The reader's buffer
// holds the longest accepted line.
func decode(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, headBytes)
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		packed, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("decompressing: %w", err)
		}
		in = bufio.NewReaderSize(packed, headBytes)
	}
	head, _ := in.Peek(3)
	var from encoding.Encoding
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		from = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, _ = in.Discard(3) // peeked, so it cannot fail
	}
	if from != nil {
		return bufio.NewReaderSize(transform.NewReader(in, from.NewDecoder()), maxLine), nil
	}
	return bufio.NewReaderSize(in, maxLine), nil
}

// refuse returns the error of a file that cannot be read at all.
func refuse(text string, args ...any) error {
	return &ingest.BatchError{Reason: ingest.BadReply, Detail: fmt.Sprintf(text, args...)}
}
