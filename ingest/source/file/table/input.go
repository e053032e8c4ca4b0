package table

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"vayu/ingest"
)

// HeadBytes is the number of bytes at the beginning of a file from which its format is detected. It is large, because
// the exports of CPCB's web portal have a page of text before their table.
const HeadBytes = 64 << 10

// Input is a file that a parser may open several times.
type Input struct {
	Path  string // for tables that name their station only in the name of the file
	Start int64
	Open  func() (io.ReadCloser, error)
	// Charset is the encoding of a text without a byte order mark, or nil for UTF-8.
	Charset encoding.Encoding
	// Unpacked is the largest number of bytes of the decompressed text, or 0 for no limit.
	Unpacked int64
}

// Text opens the file and returns its text, decompressed and in UTF-8 without a byte order mark. Positions in the file
// count the bytes of this text.
func (s *Input) Text() (*Text, error) {
	in, err := s.Open()
	if err != nil {
		return nil, err
	}
	text, err := decode(in, s.Charset, s.Unpacked)
	if err != nil {
		in.Close()
		return nil, err
	}
	return &Text{text, in}, nil
}

// Text reads the decoded text of an open file.
type Text struct {
	*bufio.Reader
	file io.Closer
}

// Close closes the file.
func (t *Text) Close() error { return t.file.Close() }

// Decode decompresses a text, decodes UTF-16, and removes byte order marks. The result's buffer is large enough for the
// longest accepted line.
func Decode(r io.Reader) (*bufio.Reader, error) { return decode(r, nil, 0) }

// decode does the same as [Decode]. `from` is the encoding of a text without a byte order mark, or nil for UTF-8.
// `limit` is the largest number of decompressed bytes, or 0 for no limit.
func decode(r io.Reader, from encoding.Encoding, limit int64) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, HeadBytes)
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		packed, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("decompressing: %w", err)
		}
		in = bufio.NewReaderSize(packed, HeadBytes)
	}
	if limit > 0 {
		in = bufio.NewReaderSize(&limitedReader{in, limit, limit}, HeadBytes)
	}
	head, _ := in.Peek(3)
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		from = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, _ = in.Discard(3) // peeked, so it cannot fail
		from = nil
	}
	if from != nil {
		return bufio.NewReaderSize(transform.NewReader(in, from.NewDecoder()), MaxLine), nil
	}
	return bufio.NewReaderSize(in, MaxLine), nil
}

// maxDocument is the size in bytes of the largest document that is read into memory as a whole. The largest known
// export of CPCB's web portal has 0.4 MB.
const maxDocument = 64 << 20

// Limit returns a reader of r that fails if the document is longer than [maxDocument].
func Limit(r io.Reader) io.Reader { return &limitedReader{r, maxDocument, maxDocument} }

type limitedReader struct {
	in          io.Reader
	limit, left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, ingest.BadReplyf("the text exceeds %d bytes", l.limit)
	}
	return n, err
}

// Scalar returns a JSON value as text, without spaces around a string. It returns nil for an object, a list, or an
// invalid string.
func Scalar(raw json.RawMessage) []byte {
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' {
		return nil
	}
	if raw[0] != '"' {
		return raw
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil
	}
	return []byte(strings.TrimSpace(text))
}
