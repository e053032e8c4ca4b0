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
	// lineMost is more than any row has; a file without line ends must not fill the
	// memory.
	lineMost = 64 << 10
	// spanMost is over how many lines a quoted cell may go: addresses have up to six.
	spanMost = 16
)

var (
	errTooLong = errors.New(reasonTooLong)
	errQuotes  = errors.New(reasonQuotes)
)

// records cuts a file into rows. A quote that is not closed spoils its own line and
// not the rest of the file, so rows are cut from lines and not by one csv.Reader.
type records struct {
	in     *bufio.Reader
	ahead  [][]byte // lines that were read and not taken, nil for one that is too long
	failed error    // of in, after those
	taken  int      // lines

	one  bytes.Reader // what cut reads
	buf  *bufio.Reader
	rows *csv.Reader
}

func newRecords(r io.Reader) *records {
	c := &records{in: bufio.NewReaderSize(r, lineMost)}
	if mark, err := c.in.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = c.in.Discard(len(mark)) // they are in the buffer
	}
	c.buf = bufio.NewReader(&c.one)
	c.rows = csv.NewReader(c.buf) // which it uses as it is: it is large enough
	c.rows.FieldsPerRecord = -1
	c.rows.TrimLeadingSpace = true
	return c
}

// line is the line n after those that were taken. It is io.EOF after the last.
func (c *records) line(n int) ([]byte, error) {
	for len(c.ahead) <= n && c.failed == nil {
		c.read()
	}
	if n < len(c.ahead) {
		return c.ahead[n], nil
	}
	return nil, c.failed
}

// read reads one line more.
func (c *records) read() {
	text, err := c.in.ReadSlice('\n')
	line := append([]byte{}, bytes.TrimRight(text, "\r\n")...) // not nil when it is empty
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

// take leaves n lines behind.
func (c *records) take(n int) {
	c.ahead = c.ahead[n:]
	c.taken += n
}

// next is the next row that is not empty, and the number of its first line. A row that
// cannot be cut has errTooLong or errQuotes, and the next call goes on behind its first
// line; every other error is that of the file, io.EOF at its end. Width is how many
// cells a row of several lines must have.
func (c *records) next(width int) (cells []string, number int, err error) {
	for {
		text, err := c.line(0)
		if err != nil {
			return nil, 0, err
		}
		number = c.taken + 1
		switch {
		case text == nil:
			c.take(1)
			return nil, number, errTooLong
		case len(bytes.TrimSpace(text)) == 0:
			c.take(1)
			continue
		}
		cells, lines, ok := c.span(text, width)
		c.take(lines)
		if !ok {
			return nil, number, errQuotes
		}
		return cells, number, nil
	}
}

// span cuts a row that begins with a line, and says how many lines it has: more than
// one when a quote is closed on a later one and the row then has as many cells as it
// must. One line is left behind of what is no row.
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

// cut is the cells of a row.
func (c *records) cut(text []byte) ([]string, bool) {
	c.one.Reset(text)
	c.buf.Reset(&c.one)
	cells, err := c.rows.Read()
	return cells, err == nil
}
