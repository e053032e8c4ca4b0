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
	// longestLine is more than any row has; a file without line ends must not fill
	// the memory.
	longestLine = 64 << 10
	// spanMost is over how many lines a quoted cell may go, such as a remark.
	spanMost = 16
)

var (
	errLong  = errors.New("it is longer than 64 KiB")
	errQuote = errors.New("its quotes do not match")
)

// physical is a line of the file, without its end.
type physical struct {
	text []byte
	long bool // and not kept
}

// records cuts a file into rows. A quote that is not closed spoils its own line and
// not the rest of the file, so rows are cut from lines and not by one csv.Reader.
type records struct {
	in     *bufio.Reader
	ahead  []physical // read, and not yet taken
	failed error      // of in, after those
	taken  int        // lines

	one  bytes.Reader // what cut reads
	buf  *bufio.Reader
	rows *csv.Reader
}

func newRecords(r io.Reader, separator rune) *records {
	c := &records{in: bufio.NewReaderSize(r, longestLine)}
	c.buf = bufio.NewReader(&c.one)
	c.separate(separator)
	return c
}

// separate has rows cut at another character from now on.
func (c *records) separate(by rune) {
	c.rows = csv.NewReader(c.buf) // which it uses as it is: it is large enough
	c.rows.Comma = by
	c.rows.FieldsPerRecord = -1
	c.rows.ReuseRecord = true
	c.rows.TrimLeadingSpace = by != '\t' // a tab is a space to it
}

// peek is the line n after those that were taken. It is io.EOF after the last.
func (c *records) peek(n int) (physical, error) {
	for len(c.ahead) <= n && c.failed == nil {
		c.read()
	}
	if n < len(c.ahead) {
		return c.ahead[n], nil
	}
	return physical{}, c.failed
}

// read reads one line more.
func (c *records) read() {
	text, err := c.in.ReadSlice('\n')
	line := physical{text: bytes.Clone(bytes.TrimRight(text, "\r\n"))}
	for errors.Is(err, bufio.ErrBufferFull) {
		line = physical{long: true}
		_, err = c.in.ReadSlice('\n')
	}
	c.failed = err
	if err == nil || errors.Is(err, io.EOF) && (len(text) > 0 || line.long) {
		c.ahead = append(c.ahead, line)
	}
}

// take leaves n lines behind.
func (c *records) take(n int) {
	c.ahead = c.ahead[n:]
	c.taken += n
}

// first takes the first line that is not empty: the header.
func (c *records) first() ([]byte, error) {
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
		c.take(1)
		if len(bytes.TrimSpace(line.text)) > 0 {
			return line.text, nil
		}
	}
}

// next is the next row that is not empty, and the number of its first line. The
// cells are valid until the next call. A row that cannot be cut has an error that
// wraps errLong or errQuote, and the next call goes on behind its first line; every
// other error is that of the file, io.EOF at its end.
func (c *records) next(fits func(cells int) bool) (cells []string, number int, err error) {
	for {
		line, err := c.peek(0)
		if err != nil {
			return nil, 0, err
		}
		number = c.taken + 1
		switch {
		case line.long:
			c.take(1)
			return nil, number, errLong
		case len(bytes.TrimSpace(line.text)) == 0:
			c.take(1)
			continue
		}
		cells, lines, ok := c.span(line.text, fits)
		c.take(lines)
		if !ok {
			return nil, number, errQuote
		}
		return cells, number, nil
	}
}

// span cuts a row that begins with a line, and says how many lines it has: more
// than one when a quote is closed on a later one and the row then has as many cells
// as it must. One line is left behind of what is no row.
func (c *records) span(text []byte, fits func(cells int) bool) (cells []string, lines int, ok bool) {
	for lines = 1; ; lines++ {
		cells, ok = c.cut(text)
		if ok && (lines == 1 || fits(len(cells))) {
			return cells, lines, true
		}
		if bytes.Count(text, []byte{'"'})%2 == 0 || lines == spanMost {
			return nil, 1, false
		}
		more, err := c.peek(lines)
		if err != nil || more.long {
			return nil, 1, false
		}
		text = slices.Concat(text, []byte{'\n'}, more.text)
	}
}

// cut is the cells of a row.
func (c *records) cut(text []byte) ([]string, bool) {
	c.one.Reset(text)
	c.buf.Reset(&c.one)
	cells, err := c.rows.Read()
	return cells, err == nil
}
