package reconcile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	// maxLineLength limits a line, in bytes, and so the memory for a file without line ends.
	maxLineLength = 64 << 10
	// maxRowLines limits the number of lines of a row with a quoted cell, such as a remark.
	maxRowLines = 16
)

var (
	errLong  = errors.New("it is longer than 64 KiB")
	errQuote = errors.New("its quotes do not match")
)

// fileLine is a line of the file, without its line break.
type fileLine struct {
	text []byte
	long bool // too long; the text is dropped
}

// rowReader splits a file into rows. An unclosed quote must not spoil the rest of the
// file, so rows are parsed from lines and not by one csv.Reader.
type rowReader struct {
	in     *bufio.Reader
	ahead  []fileLine // lines that were read and not consumed
	failed error      // read error after the lines in ahead
	taken  int        // number of consumed lines

	line bytes.Reader // input of cut
	buf  *bufio.Reader
	rows *csv.Reader
}

func newRowReader(r io.Reader, separator rune) *rowReader {
	c := &rowReader{in: bufio.NewReaderSize(r, maxLineLength)}
	c.buf = bufio.NewReader(&c.line)
	c.setSeparator(separator)
	return c
}

func (c *rowReader) setSeparator(by rune) {
	c.rows = csv.NewReader(c.buf) // reads from buf without a buffer of its own, because buf is large enough
	c.rows.Comma = by
	c.rows.FieldsPerRecord = -1
	c.rows.ReuseRecord = true
	c.rows.TrimLeadingSpace = by != '\t' // csv counts a tab as a space
}

// peek returns line n of the lines that are not consumed yet, counted from 0. After the last line
// the error is io.EOF, or the read error that ended the lines.
func (c *rowReader) peek(n int) (fileLine, error) {
	for len(c.ahead) <= n && c.failed == nil {
		c.read()
	}
	if n < len(c.ahead) {
		return c.ahead[n], nil
	}
	return fileLine{}, c.failed
}

func (c *rowReader) read() {
	text, err := c.in.ReadSlice('\n')
	line := fileLine{text: bytes.Clone(bytes.TrimRight(text, "\r\n"))}
	for errors.Is(err, bufio.ErrBufferFull) {
		line = fileLine{long: true}
		_, err = c.in.ReadSlice('\n')
	}
	c.failed = err
	if err == nil || errors.Is(err, io.EOF) && (len(text) > 0 || line.long) {
		c.ahead = append(c.ahead, line)
	}
}

func (c *rowReader) skip(n int) {
	c.ahead = c.ahead[n:]
	c.taken += n
}

// first consumes and returns the first non-empty line, which is the header.
func (c *rowReader) first() ([]byte, error) {
	for {
		line, err := c.peek(0)
		switch {
		case errors.Is(err, io.EOF):
			return nil, &HeaderError{"the file is empty"}
		case err != nil:
			return nil, fmt.Errorf("reading the file: %w", err)
		case line.long:
			return nil, &HeaderError{"the first line is no header: " + errLong.Error()}
		}
		c.skip(1)
		if len(bytes.TrimSpace(line.text)) > 0 {
			return line.text, nil
		}
	}
}

// next returns the next non-empty row, and the number of its first line. The cells are valid until
// the following call. The error of an unparsable row is errLong or errQuote, and the following call
// continues after the row's first line. Every other error is a read error, or io.EOF.
func (c *rowReader) next(fits func(cells int) bool) (cells []string, number int, err error) {
	for {
		line, err := c.peek(0)
		if err != nil {
			return nil, 0, err
		}
		number = c.taken + 1
		switch {
		case line.long:
			c.skip(1)
			return nil, number, errLong
		case len(bytes.TrimSpace(line.text)) == 0:
			c.skip(1)
			continue
		}
		cells, lines, ok := c.span(line.text, fits)
		c.skip(lines)
		if !ok {
			return nil, number, errQuote
		}
		return cells, number, nil
	}
}

// span parses the row that begins with the line text. lines is the number of lines of the row. A
// row has several lines if a quoted cell contains line breaks. Such a row must have as many cells
// as the header. If the row cannot be parsed, ok is false and lines is 1.
func (c *rowReader) span(text []byte, fits func(cells int) bool) (cells []string, lines int, ok bool) {
	for lines = 1; ; lines++ {
		cells, ok = c.cut(text)
		if ok && (lines == 1 || fits(len(cells))) {
			return cells, lines, true
		}
		if bytes.Count(text, []byte{'"'})%2 == 0 || lines == maxRowLines {
			return nil, 1, false
		}
		more, err := c.peek(lines)
		if err != nil || more.long {
			return nil, 1, false
		}
		text = slices.Concat(text, []byte{'\n'}, more.text)
	}
}

// cut parses the cells of a row. It returns false if the row is not valid CSV.
func (c *rowReader) cut(text []byte) ([]string, bool) {
	c.line.Reset(text)
	c.buf.Reset(&c.line)
	cells, err := c.rows.Read()
	return cells, err == nil
}
