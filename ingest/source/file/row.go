package file

import (
	"errors"
	"io"

	"vayu/ingest"
)

// row reads the rows of one kind of table. Cells are valid during the call.
type row interface {
	read(cells [][]byte, b *ingest.Builder) error
}

// prescanner is a row that must see the whole table before the first row is read.
type prescanner interface{ prescan(cells [][]byte) }

// stationResolver is a row whose table lacks its station or sensor. It finds them
// from the file's name and neighbouring files, before the table is read.
type stationResolver interface{ resolveStation(in *source) error }

// rows returns the parser of the tables whose header open accepts. An unreadable
// line is skipped and counted.
func rows(open func(header) (row, bool)) func(*source, *ingest.Builder) error {
	return func(in *source, b *ingest.Builder) error {
		t, err := openTable(in)
		if err != nil {
			return err
		}
		defer func() { t.text.Close() }()
		r, ok := open(t.header)
		if !ok {
			return refuse("the table has another header than it was recognised by")
		}
		if s, ok := r.(stationResolver); ok {
			if err := s.resolveStation(in); err != nil {
				return err
			}
		}
		if s, ok := r.(prescanner); ok {
			err := t.each(func(_ int64, cells [][]byte, fine bool) error {
				if fine {
					s.prescan(cells)
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
		return t.each(func(at int64, cells [][]byte, fine bool) error {
			if at < in.start {
				return nil
			}
			b.At(at)
			if !fine {
				b.Reject(ingest.BadLine)
				return nil
			}
			return r.read(cells, b)
		}, b.At)
	}
}

// table is an open text with a header.
type table struct {
	text   *textReader
	lines  lines
	header header
}

func openTable(in *source) (*table, error) {
	text, err := in.text()
	if err != nil {
		return nil, err
	}
	t := &table{text: text, lines: lines{in: text.Reader}}
	first, _, _, err := t.lines.next()
	if err != nil {
		text.Close()
		return nil, err
	}
	t.header = newHeader(first)
	return t, nil
}

// each calls visit for every non-empty line after the header. fine is false for a
// line that is no row of the table. At the end it calls ended with the text's
// length.
func (t *table) each(visit func(at int64, cells [][]byte, fine bool) error, ended ...func(int64)) error {
	cells := make([][]byte, 0, len(t.header.names)+1)
	for {
		line, at, fine, err := t.lines.next()
		if errors.Is(err, io.EOF) {
			for _, end := range ended {
				end(t.lines.offset)
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
			cells, fine = split(line, t.header.separator, cells)
			fine = fine && len(cells) == len(t.header.names)
		}
		if err := visit(at, cells, fine); err != nil {
			return err
		}
	}
}
