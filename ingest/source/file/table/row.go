// Package table reads saved texts and tables: compression and character sets, lines,
// headers, cells, and the time between rows. The formats of package file use it.
package table

import (
	"bufio"
	"errors"
	"io"

	"vayu/ingest"
)

// Row reads the rows of one kind of table. Cells are valid during the call. It may
// also be a prescanner or a stationResolver.
type Row interface {
	Read(cells [][]byte, b *ingest.Builder) error
}

// prescanner is a [Row] that must see the whole table before its first row is read.
type prescanner interface{ Prescan(cells [][]byte) }

// stationResolver is a [Row] for a table that lacks its station or sensor. It finds
// them from the file's name and neighbouring files, before the table is read.
type stationResolver interface{ ResolveStation(in *Input) error }

// Rows returns the parser of the tables whose header the function open accepts. An
// unreadable line is skipped and counted.
func Rows(open func(Header) (Row, bool)) func(*Input, *ingest.Builder) error {
	return func(in *Input, b *ingest.Builder) error {
		t, err := openTable(in)
		if err != nil {
			return err
		}
		defer func() { t.text.Close() }()
		r, ok := open(t.Header)
		if !ok {
			return Refuse("the table has another header than it was recognised by")
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

// Table is an open text with a header.
type Table struct {
	text   *Text // nil from ReadHeader, whose caller owns it
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

// ReadHeader reads the first line of a text.
func ReadHeader(text *bufio.Reader) (*Table, error) {
	t := &Table{lines: Lines{In: text}}
	first, _, _, err := t.lines.Next()
	if err != nil {
		return nil, err
	}
	t.Header = NewHeader(first)
	return t, nil
}

// Each calls visit for every non-empty line after the header. fine is false for a line
// that is no row of the table. At the end it calls the functions ended with the text's
// length.
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
