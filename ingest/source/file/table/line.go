package table

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// MaxLine is the length of the longest accepted line, in bytes. It bounds the memory for a file without line ends. A
// row of the widest known export has less than 2 KB.
const MaxLine = 1 << 20

// Lines reads a text line by line. A quoted cell may not span lines, so an unclosed quote affects only its own line.
type Lines struct {
	In     *bufio.Reader // its buffer has MaxLine bytes
	Offset int64         // offset of the byte after the last line

	number int64  // number of the last line, from 1
	line   []byte // the last line
	copied []byte // copy of the last line if it has quotes, because Split modifies the line
}

// Record returns the number and the text of the last line, as [ingest.Builder.Describe] needs them.
func (l *Lines) Record() (number int64, text string) { return l.number, string(l.line) }

// Number returns the number, from 1, of the line that the last call of Next has read.
func (l *Lines) Number() int64 { return l.number }

// Next returns the next line without its end, and the offset of its first byte. The line is valid until the next call,
// and the caller may modify it. `fine` is false if the line is too long, is not UTF-8, or has a NUL byte. At the end of
// the text the error is io.EOF. Other errors are those of the reader.
func (l *Lines) Next() (line []byte, at int64, fine bool, err error) {
	at = l.Offset
	l.number++
	l.line = nil
	line, err = l.In.ReadSlice('\n')
	l.Offset += int64(len(line))
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, at, false, l.skip()
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, at, false, err
	}
	line = bytes.TrimRight(line, "\r\n")
	l.line = line
	if bytes.IndexByte(line, '"') >= 0 || bytes.IndexByte(line, '\'') >= 0 {
		l.copied = append(l.copied[:0], line...)
		l.line = l.copied
	}
	return line, at, Plain(line), nil
}

func (l *Lines) skip() error {
	for {
		part, err := l.In.ReadSlice('\n')
		l.Offset += int64(len(part))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// Plain reports whether a line is UTF-8 and has no NUL.
func Plain(line []byte) bool { return utf8.Valid(line) && bytes.IndexByte(line, 0) < 0 }

// Split splits a line of CSV into cells. It reuses the memory of the slice `cells`. It removes quotes in place, so it
// modifies the line. It returns false for invalid quotes.
func Split(line []byte, separator byte, cells [][]byte) ([][]byte, bool) {
	return SplitQuoted(line, separator, '"', cells)
}

// SplitQuoted does the same as [Split] with another quote character. If `quote` is 0, the table has no quotes.
func SplitQuoted(line []byte, separator, quote byte, cells [][]byte) ([][]byte, bool) {
	cells = cells[:0]
	if quote == 0 || bytes.IndexByte(line, quote) < 0 {
		for {
			i := bytes.IndexByte(line, separator)
			if i < 0 {
				return append(cells, line), true
			}
			cells = append(cells, line[:i])
			line = line[i+1:]
		}
	}
	for {
		cell, rest, more, ok := cut(line, separator, quote)
		if !ok {
			return cells, false
		}
		if cells = append(cells, cell); !more {
			return cells, true
		}
		line = rest
	}
}

// cut splits the first cell off a line. `more` is false for the last cell, and `ok` is false for invalid quotes.
func cut(line []byte, separator, quote byte) (cell, rest []byte, more, ok bool) {
	if len(line) == 0 || line[0] != quote {
		cell, rest, more = bytes.Cut(line, []byte{separator})
		return cell, rest, more, true
	}
	end := 0 // end of the cell without quotes, which is moved to the beginning of the line
	for i := 1; i < len(line); i++ {
		if line[i] != quote {
			line[end] = line[i]
			end++
			continue
		}
		if i+1 < len(line) && line[i+1] == quote {
			line[end] = quote
			end++
			i++
			continue
		}
		switch {
		case i+1 == len(line):
			return line[:end], nil, false, true
		case line[i+1] == separator:
			return line[:end], line[i+2:], true, true
		}
		return nil, nil, false, false
	}
	return nil, nil, false, false
}
