package branch

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
)

const (
	// lineMost is the limit of a line in bytes. It limits the memory for a file without line ends.
	lineMost = 64 << 10
	// spanMost is the number of lines that a quoted cell may span. Addresses have up to six.
	spanMost = 16
)

var (
	errTooLong = errors.New(reasonTooLong)
	errQuotes  = errors.New(reasonQuotes)
)

// records splits a file into rows. It first splits the file into lines, because an unclosed quote
// must spoil only its own line. A single csv.Reader would lose the rest of the file.
type records struct {
	in       *bufio.Reader
	ahead    [][]byte // lines read and not consumed; nil for a line that is too long
	failed   error    // read error after the lines in ahead
	consumed int      // number of consumed lines

	one  bytes.Reader // input of cut
	buf  *bufio.Reader
	rows *csv.Reader
}

func newRecords(r io.Reader) *records {
	c := &records{in: bufio.NewReaderSize(r, lineMost)}
	if mark, err := c.in.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = c.in.Discard(len(mark)) // cannot fail, because the mark is buffered
	}
	c.buf = bufio.NewReader(&c.one)
	c.rows = csv.NewReader(c.buf) // reads from buf without a buffer of its own, because buf is large enough
	c.rows.FieldsPerRecord = -1
	c.rows.TrimLeadingSpace = true
	return c
}

// line returns line n of the lines that are not consumed, counted from 0. It is nil if the line is
// too long. After the last line that can be read, the error is io.EOF or the reader's error.
func (c *records) line(n int) ([]byte, error) {
	for len(c.ahead) <= n && c.failed == nil {
		c.read()
	}
	if n < len(c.ahead) {
		return c.ahead[n], nil
	}
	return nil, c.failed
}

func (c *records) read() {
	text, err := c.in.ReadSlice('\n')
	line := append([]byte{}, bytes.TrimRight(text, "\r\n")...) // an empty line is not nil
	long := false
	for errors.Is(err, bufio.ErrBufferFull) {
		long, line = true, nil
		_, err = c.in.ReadSlice('\n')
	}
	c.failed = err
	if err == nil || errors.Is(err, io.EOF) && (len(text) > 0 || long) {
		c.ahead = append(c.ahead, line)
	}
}

// consume drops the first n of the lines that are not consumed.
func (c *records) consume(n int) {
	c.ahead = c.ahead[n:]
	c.consumed += n
}

// next returns the next row that is not empty, and the number of its first line. For an unreadable
// row the error is errTooLong or errQuotes. The next call then continues after the first line of
// that row. Other errors come from the reader; io.EOF marks the end of the file. width is the
// required number of cells of a row with several lines.
func (c *records) next(width int) (cells []string, number int, err error) {
	for {
		text, err := c.line(0)
		if err != nil {
			return nil, 0, err
		}
		number = c.consumed + 1
		switch {
		case text == nil:
			c.consume(1)
			return nil, number, errTooLong
		case len(bytes.TrimSpace(text)) == 0:
			c.consume(1)
			continue
		}
		cells, lines, ok := c.span(text, width)
		c.consume(lines)
		if !ok {
			return nil, number, errQuotes
		}
		return cells, number, nil
	}
}

// span parses the row that begins with the line text. lines is the number of lines of the row. A
// row with several lines needs a closing quote on a later line, and width cells. If the row cannot
// be parsed, ok is false and lines is 1.
func (c *records) span(text []byte, width int) (cells []string, lines int, ok bool) {
	for lines = 1; ; lines++ {
		cells, ok = c.cut(text)
		if ok && (lines == 1 || len(cells) == width) {
			return cells, lines, true
		}
		if bytes.Count(text, []byte{'"'})%2 == 0 || lines == spanMost || len(text) > lineMost {
			return nil, 1, false
		}
		more, err := c.line(lines)
		if err != nil || more == nil {
			return nil, 1, false
		}
		text = slices.Concat(text, []byte{'\n'}, more)
	}
}

// cut returns the cells of a row. It returns false if the row is not valid CSV.
func (c *records) cut(text []byte) ([]string, bool) {
	c.one.Reset(text)
	c.buf.Reset(&c.one)
	cells, err := c.rows.Read()
	return cells, err == nil
}
