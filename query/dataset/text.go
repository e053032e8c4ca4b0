package dataset

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// lines writes records as text, one line for each row.
type lines struct {
	w      io.Writer
	buffer []byte
	lead   [][]byte // before the value of each column
	tail   string   // after the last value
	null   string
	quote  func(b []byte, text string) []byte
	quoted bool // instants and dates are texts in quotes
	finite bool // a number that is not finite is written as null
}

// flushBytes is the number of buffered bytes after which lines are written.
const flushBytes = 256 << 10

// newCSV returns a writer of CSV (RFC 4180) with a header, in which lines end with a line feed. NULL is an empty field.
func newCSV(w io.Writer, schema *arrow.Schema) (Writer, error) {
	out := &lines{w: w, tail: "\n", quote: quoteCSV, lead: make([][]byte, schema.NumFields())}
	names := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = f.Name
		if i > 0 {
			out.lead[i] = []byte{','}
		}
	}
	header := csv.NewWriter(w)
	if err := header.Write(names); err != nil {
		return nil, err
	}
	header.Flush()
	return out, header.Error()
}

// newJSON returns a writer of JSON lines, one object for each row. Times are RFC 3339. A number that JSON cannot
// represent becomes null.
func newJSON(w io.Writer, schema *arrow.Schema) (Writer, error) {
	out := &lines{w: w, tail: "}\n", null: "null", quote: quoteJSON, quoted: true, finite: true, lead: make([][]byte, schema.NumFields())}
	for i, f := range schema.Fields() {
		lead := byte(',')
		if i == 0 {
			lead = '{'
		}
		out.lead[i] = append(quoteJSON([]byte{lead}, f.Name), ':')
	}
	return out, nil
}

// Write implements Writer.
func (l *lines) Write(record arrow.Record) error {
	cells := make([]func(b []byte, row int) []byte, record.NumCols())
	for i := range cells {
		cells[i] = l.cell(record.Column(i))
	}
	for row := range int(record.NumRows()) {
		if row%256 == 255 { // every 0.1 ms or so, let other goroutines run; Go's scheduler would wait 10 ms
			runtime.Gosched()
		}
		for i, cell := range cells {
			l.buffer = append(l.buffer, l.lead[i]...)
			if record.Column(i).IsNull(row) {
				l.buffer = append(l.buffer, l.null...)
				continue
			}
			l.buffer = cell(l.buffer, row)
		}
		l.buffer = append(l.buffer, l.tail...)
		if len(l.buffer) >= flushBytes {
			if err := l.flush(); err != nil {
				return err
			}
		}
	}
	return l.flush()
}

func (l *lines) flush() error {
	_, err := l.w.Write(l.buffer)
	l.buffer = l.buffer[:0]
	return err
}

// Close implements Writer.
func (l *lines) Close() error { return nil }

// cell returns a function that appends to b the value that a column has in a row.
func (l *lines) cell(column arrow.Array) func(b []byte, row int) []byte {
	switch c := column.(type) {
	case *array.String:
		return func(b []byte, row int) []byte { return l.quote(b, c.Value(row)) }
	case *array.Dictionary:
		return l.few(c)
	case *array.Float64:
		return func(b []byte, row int) []byte { return l.number(b, c.Value(row), 64) }
	case *array.Float32:
		return func(b []byte, row int) []byte { return l.number(b, float64(c.Value(row)), 32) }
	case *array.Timestamp:
		return l.instant(c)
	case *array.Date32:
		return func(b []byte, row int) []byte {
			return l.mark(c.Value(row).ToTime().AppendFormat(l.mark(b), time.DateOnly))
		}
	case *array.Boolean:
		return func(b []byte, row int) []byte { return strconv.AppendBool(b, c.Value(row)) }
	case *array.List:
		return l.list(c)
	case *array.Int32:
		return integer[int32](c)
	case *array.Int64:
		return integer[int64](c)
	case *array.Uint8:
		return integer[uint8](c)
	case *array.Uint16:
		return integer[uint16](c)
	case *array.Uint32:
		return integer[uint32](c)
	case *array.Uint64:
		return func(b []byte, row int) []byte { return strconv.AppendUint(b, c.Value(row), 10) }
	}
	return func(b []byte, row int) []byte { return l.quote(b, column.ValueStr(row)) }
}

// few does the same as cell for a dictionary-encoded column. It quotes each distinct text only once.
func (l *lines) few(c *array.Dictionary) func(b []byte, row int) []byte {
	texts := c.Dictionary().(*array.String)
	quoted := make([][]byte, texts.Len())
	for i := range quoted {
		quoted[i] = l.quote(nil, texts.Value(i))
	}
	index := c.Indices().(*array.Int32).Int32Values()
	return func(b []byte, row int) []byte { return append(b, quoted[index[row]]...) }
}

func integer[T int32 | int64 | uint8 | uint16 | uint32](c interface{ Value(i int) T }) func([]byte, int) []byte {
	return func(b []byte, row int) []byte { return strconv.AppendInt(b, int64(c.Value(row)), 10) }
}

// mark appends the quotation mark that the format requires around times and dates.
func (l *lines) mark(b []byte) []byte {
	if l.quoted {
		b = append(b, '"')
	}
	return b
}

func (l *lines) number(b []byte, v float64, bits int) []byte {
	if l.finite && (math.IsNaN(v) || math.IsInf(v, 0)) {
		return append(b, l.null...)
	}
	return strconv.AppendFloat(b, v, 'f', -1, bits)
}

// instant does the same as cell for times (RFC 3339). It caches the text of the last day, because consecutive rows
// often have the same day.
func (l *lines) instant(c *array.Timestamp) func(b []byte, row int) []byte {
	const day = 86_400_000
	last, text := int64(math.MinInt64), []byte(nil)
	return func(b []byte, row int) []byte {
		ms := int64(c.Value(row))
		date := ms / day
		if ms%day < 0 {
			date--
		}
		if date != last {
			last, text = date, time.UnixMilli(date*day).UTC().AppendFormat(text[:0], "2006-01-02T")
		}
		b = append(l.mark(b), text...)
		rest := int(ms - date*day)
		b = append(pair(b, rest/3_600_000), ':')
		b = append(pair(b, rest/60_000%60), ':')
		b = pair(b, rest/1000%60)
		if rest %= 1000; rest != 0 {
			b = append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
		}
		return l.mark(append(b, 'Z'))
	}
}

// pair appends a number below 100 with two digits.
func pair(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// list does the same as cell for lists of texts or numbers. It writes a list as JSON.
func (l *lines) list(c *array.List) func(b []byte, row int) []byte {
	inner := lines{null: "null", quote: quoteJSON, quoted: true, finite: true}
	item := inner.cell(c.ListValues())
	var text []byte
	return func(b []byte, row int) []byte {
		text = append(text[:0], '[')
		from, to := c.ValueOffsets(row)
		for i := from; i < to; i++ {
			if i > from {
				text = append(text, ',')
			}
			text = item(text, int(i))
		}
		text = append(text, ']')
		if l.finite { // JSON
			return append(b, text...)
		}
		return l.quote(b, string(text))
	}
}

// quoteCSV appends a field of CSV.
func quoteCSV(b []byte, text string) []byte {
	if text == "" { // an empty field is NULL
		return append(b, '"', '"')
	}
	if !strings.ContainsAny(text, "\",\r\n") && text[0] != ' ' {
		return append(b, text...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(text, `"`, `""`)...)
	return append(b, '"')
}

func quoteJSON(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			quoted, err := json.Marshal(text)
			if err != nil {
				return append(b, "null"...) // a text always has a JSON form
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}
