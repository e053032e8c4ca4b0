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

// headBytes is how much of a file its format is recognised from: the portal's
// exports have a page of text before their table.
const headBytes = 64 << 10

// source is the bytes of one file, opened as often as a parser needs them.
type source struct {
	path  string // where the file lies, for formats whose station is in its name
	start int64
	open  func() (io.ReadCloser, error)
}

// text opens the file's text: decompressed, and in UTF-8 without a byte order
// mark. Positions count the bytes of this text.
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

// textReader is a decoded text and the file that it comes from.
type textReader struct {
	*bufio.Reader
	file io.Closer
}

// Close closes the file.
func (t *textReader) Close() error { return t.file.Close() }

// decode takes compression, UTF-16 and byte order marks off. The reader's
// buffer holds the longest line that is accepted.
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

// refuse is the error of a file that cannot be read at all.
func refuse(text string, args ...any) error {
	return &ingest.BatchError{Reason: ingest.BadReply, Detail: fmt.Sprintf(text, args...)}
}
