package table

import (
	"bytes"
	"slices"
	"strings"

	"vayu/ingest"
	"vayu/schema/parameter"
)

// Header has the separator of a table, and the names of its columns, trimmed and in lower case.
type Header struct {
	Separator byte
	names     []string
}

// NewHeader parses the header line of a table. It may modify the line. It chooses the separator that yields the most
// columns.
func NewHeader(line []byte) Header {
	line = bytes.TrimRight(line, "\r\n")
	h := Header{Separator: ','}
	most := 0
	for _, c := range []byte{',', ';', '\t'} {
		if n := bytes.Count(line, []byte{c}); n > most {
			most, h.Separator = n, c
		}
	}
	if !Plain(line) {
		return h
	}
	if cells, ok := Split(line, h.Separator, nil); ok {
		h.names = HeaderOf(cells).names
	}
	return h
}

// HeaderOf makes a header from the cells of a row.
func HeaderOf(cells [][]byte) Header {
	var h Header
	for _, cell := range cells {
		h.names = append(h.names, strings.ToLower(strings.TrimSpace(string(cell))))
	}
	return h
}

// Note passes the names of the columns to the builder. The recorder of the fetch records these names, so that a change
// of the columns is noticed.
func (h Header) Note(b *ingest.Builder) {
	for _, name := range h.names {
		b.Field(name, ingest.TextField)
	}
}

// Find returns the index of the first column that has one of the names, or -1.
func (h Header) Find(names ...string) int {
	for i, name := range h.names {
		if slices.Contains(names, name) {
			return i
		}
	}
	return -1
}

// Is reports whether the function `open` accepts the header. Such a function creates a [Row] for one kind of table.
func (h Header) Is(open func(Header) (Row, bool)) bool {
	_, ok := open(h)
	return ok
}

// Column is a column with the values of one parameter.
type Column struct {
	Index     int
	Parameter parameter.Parameter
	Unit      string // "" for the unit that Vayu uses for the parameter
}

// Columns returns the columns with values of known parameters: "PM2.5", "pm25", "Ozone (ug/m3)", "AT (degree C)". A
// pollutant without a unit has the unit of CPCB's exports (CO in mg/m³, NOx in ppb). A weather parameter needs a unit,
// because short names such as "at" and "sr" are ambiguous. Columns omits a column whose unit cannot be converted. If
// two columns have the same parameter, it returns the first one.
func (h Header) Columns() []Column {
	var found []Column
	taken := make(map[parameter.Parameter]bool)
	for i, name := range h.names {
		name, unit, _ := strings.Cut(name, "(")
		p, ok := parameter.Parse(name)
		if !ok || taken[p] {
			continue
		}
		unit = strings.TrimSuffix(strings.TrimSpace(unit), ")")
		if unit == "" && p.Group() == parameter.Weather {
			continue
		}
		if unit != "" {
			one, ok := p.Convert(1, unit)
			if !ok {
				continue
			}
			if zero, _ := p.Convert(0, unit); one == 1 && zero == 0 {
				unit = ""
			}
		}
		taken[p] = true
		found = append(found, Column{i, p, unit})
	}
	return found
}

// Span reports whether a header has columns for the start and the end of an interval, and for values, as in a CAAQM
// export.
func (h Header) Span() bool {
	return h.Find("from date") >= 0 && h.Find("to date") >= 0 && len(h.Columns()) > 0
}
