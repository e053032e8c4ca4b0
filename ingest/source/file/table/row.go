// Package table reads texts and tables from files: compression and character sets, lines, headers, cells, and the time
// between rows. The formats of package file use it.
package table

import (
	"bufio"
	"errors"
	"io"

	"vayu/ingest"
)

// Row reads the rows of one kind of table. The cells are valid only during the call. A Row may also implement
// prescanner or stationResolver.
type Row interface {
	Read(cells [][]byte, b *ingest.Builder) error
}

// prescanner is a [Row] that needs all rows of the table before it can read the first one.
type prescanner interface{ Prescan(cells [][]byte) }

// stationResolver is a [Row] for a table that does not name its station or sensor. ResolveStation finds it in the name
// of the file or in files beside it. Rows calls ResolveStation before it reads the table.
type stationResolver interface{ ResolveStation(in *Input) error }

// Rows returns a parser for one kind of table. The function `open` creates the Row for a header, and returns false for
// a header of another kind. The parser counts an unreadable line as rejected and continues.
func Rows(open func(Header) (Row, bool)) func(*Input, *ingest.Builder) error {
	return func(in *Input, b *ingest.Builder) error {
		t, err := openTable(in)
		if err != nil {
			return err
		}
		defer func() { t.text.Close() }()
		r, ok := open(t.Header)
		if !ok {
			return ingest.BadReplyf("the table has another header than it was recognised by")
		}
		if s, ok := r.(stationResolver); ok {
			if err := s.ResolveStation(in); err != nil {
				return err
			}
		}
		if s, ok := r.(prescanner); ok {
			err := t.Each(func(_ int64, cells [][]byte, fine bool) error {
				if fine {
					s.Prescan(cells)
				}
				return nil
			})
			if err != nil {
				return err
			}
			t.text.Close()
			if t, err = openTable(in); err != nil {
				return err
			}
		}
		b.Describe(t.lines.Record)
		t.Header.Note(b)
		return t.Each(func(at int64, cells [][]byte, fine bool) error {
			if at < in.Start {
				return nil
			}
			b.At(at)
			if !fine {
				b.Reject(ingest.BadLine)
				return nil
			}
			return r.Read(cells, b)
		}, b.At)
	}
}

// Table is a table whose header line has been read.
type Table struct {
	text   *Text // nil after ReadHeader, whose caller closes the text
	lines  Lines
	Header Header
}

func openTable(in *Input) (*Table, error) {
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	t, err := ReadHeader(text.Reader)
	if err != nil {
		text.Close()
		return nil, err
	}
	t.text = text
	return t, nil
}

// ReadHeader reads the first line of a text as the header of a table.
func ReadHeader(text *bufio.Reader) (*Table, error) {
	t := &Table{lines: Lines{In: text}}
	first, _, _, err := t.lines.Next()
	if err != nil {
		return nil, err
	}
	t.Header = NewHeader(first)
	return t, nil
}

// Each calls `visit` for every non-empty line after the header. `at` is the offset of the line. `fine` is false for an
// unreadable line, or a wrong number of cells. At the end, Each calls the functions in `ended` with the text's length.
func (t *Table) Each(visit func(at int64, cells [][]byte, fine bool) error, ended ...func(int64)) error {
	cells := make([][]byte, 0, len(t.Header.names)+1)
	for {
		line, at, fine, err := t.lines.Next()
		if errors.Is(err, io.EOF) {
			for _, end := range ended {
				end(t.lines.Offset)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if fine && len(line) == 0 {
			continue
		}
		if fine {
			cells, fine = Split(line, t.Header.Separator, cells)
			fine = fine && len(cells) == len(t.Header.names)
		}
		if err := visit(at, cells, fine); err != nil {
			return err
		}
	}
}
