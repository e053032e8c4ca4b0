// Package csvfile reads CSV files of other parties, one row at a time. A row that is not valid CSV does not affect the
// rows after it. With encoding/csv alone, an unclosed quote would turn the rest of the file into one cell.
package csvfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	textencoding "golang.org/x/text/encoding"
	encoding "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	// maxLineLength limits a line, in bytes. Otherwise a file without line ends would fill the memory.
	maxLineLength = 64 << 10
	// maxRowLines limits the number of lines of a row with a quoted cell, such as an address.
	maxRowLines = 16
)

// HeaderError means that a file has no usable header. Without a header no row can be read.
type HeaderError struct{ Text string }

// Error implements error.
func (e *HeaderError) Error() string { return e.Text }

// LineError is the error of an unreadable row.
type LineError struct {
	Number int // number of the row's first line in the file, from 1
	Text   string
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Number, e.Text) }

const (
	tooLong    = "it is longer than 64 KiB"
	openQuotes = "its quotes do not match"
)

// Reader reads the rows of a file. First call Header.
type Reader struct {
	in       *bufio.Reader
	ahead    [][]byte // lines that were read and not consumed; nil for a line that is too long
	failed   error    // error that ended reading, or io.EOF; it follows the lines in `ahead`
	consumed int      // number of consumed lines
	width    int      // number of the header's cells

	row   bytes.Reader  // the text of one row
	buf   *bufio.Reader // reads `row`
	cells *csv.Reader   // parses `buf`
}

// New returns a Reader of a file in UTF-8, or in UTF-16 with a byte order mark.
func New(r io.Reader) *Reader {
	f := &Reader{in: bufio.NewReaderSize(transform.NewReader(r, encoding.BOMOverride(textencoding.Nop.NewDecoder())), maxLineLength)}
	f.buf = bufio.NewReader(&f.row)
	return f
}

// Header reads the first non-empty line, and returns its cells. Of the given separators, it chooses for the whole file
// the one that yields the most cells in this line. The error is a *HeaderError, or a read error.
func (f *Reader) Header(separators ...rune) ([]string, error) {
	text, err := f.nextLine()
	switch {
	case errors.Is(err, io.EOF):
		return nil, &HeaderError{"the file is empty"}
	case err != nil:
		return nil, err
	case text == nil:
		return nil, &HeaderError{"the first line is not a header: " + tooLong}
	}
	f.consume(1)
	var names []string
	var best *csv.Reader
	for _, by := range separators {
		f.cells = csv.NewReader(f.buf) // csv.Reader uses f.buf as its buffer, because f.buf is large enough
		f.cells.Comma, f.cells.FieldsPerRecord, f.cells.ReuseRecord = by, -1, true
		f.cells.TrimLeadingSpace = by != '\t' // csv would trim tabs too, and thus lose empty cells
		if cells, ok := f.cut(text); ok && len(cells) > len(names) {
			best, names = f.cells, slices.Clone(cells)
		}
	}
	if best == nil {
		return nil, &HeaderError{"the first line is not a header: " + openQuotes}
	}
	f.cells, f.width = best, len(names)
	return names, nil
}

// Next returns the next non-empty row, and the number of its first line. It removes empty cells at the end of a row
// that has more cells than the header. The cells are valid until the next call. The error of an unreadable row is a
// *LineError, and the next call continues after the row's first line. Any other error is a read error, or io.EOF.
func (f *Reader) Next() (cells []string, number int, err error) {
	text, err := f.nextLine()
	if err != nil {
		return nil, 0, err
	}
	number = f.consumed + 1
	if text == nil {
		f.consume(1)
		return nil, number, &LineError{number, tooLong}
	}
	cells, lines, ok := f.span(text)
	f.consume(lines)
	if !ok {
		return nil, number, &LineError{number, openQuotes}
	}
	for len(cells) > f.width && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	return cells, number, nil
}

// nextLine returns the next non-empty line without consuming it. The line is nil if it is longer than maxLineLength.
func (f *Reader) nextLine() ([]byte, error) {
	for {
		text, err := f.peek(0)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("reading the file: %w", err)
		case err != nil || text == nil || len(bytes.TrimSpace(text)) > 0:
			return text, err
		}
		f.consume(1)
	}
}

// peek returns line n of the lines that are not consumed yet, counted from 0. After the last line the error is
// io.EOF, or the read error that ended the lines.
func (f *Reader) peek(n int) ([]byte, error) {
	for len(f.ahead) <= n && f.failed == nil {
		f.read()
	}
	if n < len(f.ahead) {
		return f.ahead[n], nil
	}
	return nil, f.failed
}

func (f *Reader) read() {
	text, err := f.in.ReadSlice('\n')
	line := append([]byte{}, bytes.TrimRight(text, "\r\n")...) // an empty line is not nil
	long := errors.Is(err, bufio.ErrBufferFull)
	for errors.Is(err, bufio.ErrBufferFull) {
		line = nil
		_, err = f.in.ReadSlice('\n')
	}
	f.failed = err
	if err == nil || errors.Is(err, io.EOF) && (len(text) > 0 || long) {
		f.ahead = append(f.ahead, line)
	}
}

func (f *Reader) consume(n int) {
	f.ahead = f.ahead[n:]
	f.consumed += n
}

// span parses the row that begins with the line `text`. `lines` is the number of lines of the row, at most maxRowLines.
// A row has several lines if a quoted cell has line breaks. It must then have as many cells as the header. If the row
// cannot be parsed, `ok` is false and `lines` is 1.
func (f *Reader) span(text []byte) (cells []string, lines int, ok bool) {
	for lines = 1; ; lines++ {
		cells, ok = f.cut(text)
		if ok && (lines == 1 || len(cells) == f.width) {
			return cells, lines, true
		}
		if bytes.Count(text, []byte{'"'})%2 == 0 || lines == maxRowLines {
			return nil, 1, false
		}
		more, err := f.peek(lines)
		if err != nil || more == nil {
			return nil, 1, false
		}
		text = slices.Concat(text, []byte{'\n'}, more)
	}
}

// cut parses the cells of a row. It returns false if the row is not valid CSV.
func (f *Reader) cut(text []byte) ([]string, bool) {
	f.row.Reset(text)
	f.buf.Reset(&f.row)
	cells, err := f.cells.Read()
	return cells, err == nil
}
