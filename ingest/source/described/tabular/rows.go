package tabular

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/ingest/source/file/table"
)

// Rows reads the rows of a table in order. It is not safe for concurrent use.
type Rows struct {
	// Columns are the names of the columns, without spaces around them.
	Columns []string

	format    *Format
	text      *table.Text
	lines     table.Lines
	delimiter byte

	split [][]byte
	cells []string

	spans  bool   // the last row spans several lines; only then the fields below are valid
	joined []byte // joined lines of the row
	raw    string
	number int64 // number of the row's first line
}

// Open opens a table and reads its header. The caller must close the result. If the header is missing or invalid, the
// error is an [*ingest.BatchError].
func (f *Format) Open(in *table.Input) (*Rows, error) {
	decoded := *in
	if decoded.Charset == nil {
		decoded.Charset = f.charset
	}
	text, err := decoded.Text()
	if err != nil {
		return nil, fmt.Errorf("opening the table: %w", err)
	}
	r := &Rows{format: f, text: text, lines: table.Lines{In: text.Reader}, delimiter: f.delimiter}
	if err := r.header(); err != nil {
		text.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the file.
func (r *Rows) Close() error { return r.text.Close() }

// header sets the names of the columns, from the format or from the header line.
func (r *Rows) header() error {
	if head, _ := r.text.Peek(min(table.HeadBytes, r.text.Size())); fetch.IsHTML(head) {
		return ingest.BadReplyf("a web page (HTML) in place of a table")
	}
	for range r.format.skip {
		if _, _, _, err := r.lines.Next(); err != nil {
			return ended(err)
		}
	}
	if !r.format.HasHeader() {
		r.Columns = r.format.columns
		return nil
	}
	line, _, fine, err := r.line()
	if err != nil {
		return ended(err)
	}
	if !fine {
		return ingest.BadReplyf("the header is longer than %d bytes, or is not in the encoding csv.encoding", table.MaxLine)
	}
	if r.delimiter == 0 {
		r.delimiter = table.NewHeader(bytes.Clone(line)).Separator
	}
	names, ok := table.SplitQuoted(line, r.delimiter, r.format.quote, nil)
	if !ok {
		return ingest.BadReplyf("the quotes of the header are invalid")
	}
	if len(names) > mostColumns {
		return ingest.BadReplyf("the header has more than %d columns", mostColumns)
	}
	for _, name := range names {
		r.Columns = append(r.Columns, strings.TrimSpace(string(name)))
	}
	return nil
}

// ended converts io.EOF to the error of a table without a header. It returns any other error unchanged.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return ingest.BadReplyf("the table has no header")
	}
	return err
}

// Next returns the cells of the next row, and the offset of its first byte. It skips empty lines. The cells are valid
// until the next call. `fine` is false for an invalid row: it is too long, or has invalid quotes, invalid characters or
// a wrong number of cells. After the last row the error is io.EOF.
func (r *Rows) Next() (cells []string, at int64, fine bool, err error) {
	for {
		line, at, fine, err := r.line()
		if err != nil {
			return nil, r.lines.Offset, false, err
		}
		if fine && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !fine {
			return nil, at, false, nil
		}
		r.split, fine = table.SplitQuoted(line, r.delimiter, r.format.quote, r.split)
		if !fine || len(r.split) != len(r.Columns) {
			return nil, at, false, nil
		}
		return r.texts(line), at, true, nil
	}
}

// texts returns the cells of the last row as strings that share one copy of the line. Each cell in r.split is a
// subslice of the line, so its offset in the line is cap(line) - cap(cell).
func (r *Rows) texts(line []byte) []string {
	whole := string(line)
	r.cells = r.cells[:0]
	for _, cell := range r.split {
		begin := cap(line) - cap(cell)
		r.cells = append(r.cells, whole[begin:begin+len(cell)])
	}
	return r.cells
}

// line returns the next line that is not a comment. If the format is multiline, it joins the lines of a row with a
// quoted cell that spans lines. `fine` is false if the row exceeds [table.MaxLine] bytes, or if the cell has no end.
func (r *Rows) line() (line []byte, at int64, fine bool, err error) {
	for {
		line, at, fine, err = r.lines.Next()
		if err != nil {
			return nil, at, false, err
		}
		if r.format.comment == "" || !bytes.HasPrefix(line, []byte(r.format.comment)) {
			break
		}
	}
	r.spans = false
	if !r.format.multiline || !fine || !r.open(line) {
		return line, at, fine, nil
	}
	r.spans, r.number = true, r.lines.Number()
	r.joined = append(r.joined[:0], line...)
	for open := true; open; {
		line, _, fine, err = r.lines.Next()
		if errors.Is(err, io.EOF) {
			return nil, at, false, nil
		}
		if err != nil {
			return nil, at, false, err
		}
		if !fine || len(r.joined)+len(line) > table.MaxLine {
			return nil, at, false, nil
		}
		open = !r.open(line)
		r.joined = append(append(r.joined, '\n'), line...)
	}
	r.raw = string(r.joined)
	return r.joined, at, true, nil
}

// open reports whether a text has the start or the end of a quoted cell without the other: its number of quotes is odd.
func (r *Rows) open(text []byte) bool { return bytes.Count(text, []byte{r.format.quote})%2 == 1 }

// Record returns the text of the last row and the number of its first line, as [ingest.Builder.Describe] needs them.
func (r *Rows) Record() (number int64, text string) {
	if r.spans {
		return r.number, r.raw
	}
	return r.lines.Record()
}
