package file

import (
	"bytes"
	"slices"
	"strings"

	"vayu/schema/parameter"
)

// header is the first line of a table: its separator and its column names, trimmed
// and in lower case.
type header struct {
	separator byte
	names     []string
}

// newHeader parses a line, which it may modify. It chooses the separator that yields
// the most columns.
func newHeader(line []byte) header {
	line = bytes.TrimRight(line, "\r\n")
	h := header{separator: ','}
	most := 0
	for _, c := range []byte{',', ';', '\t'} {
		if n := bytes.Count(line, []byte{c}); n > most {
			most, h.separator = n, c
		}
	}
	if !plain(line) {
		return h
	}
	if cells, ok := split(line, h.separator, nil); ok {
		h.names = headerOf(cells).names
	}
	return h
}

// headerOf makes a header from the cells of a spreadsheet's row.
func headerOf(cells [][]byte) header {
	var h header
	for _, cell := range cells {
		h.names = append(h.names, strings.ToLower(strings.TrimSpace(string(cell))))
	}
	return h
}

// find returns the first column that has one of the names, or -1.
func (h header) find(names ...string) int {
	for i, name := range h.names {
		if slices.Contains(names, name) {
			return i
		}
	}
	return -1
}

// is reports whether open, the constructor of a kind of table, accepts the header.
func (h header) is(open func(header) (row, bool)) bool {
	_, ok := open(h)
	return ok
}

// column is a column with the values of one parameter.
type column struct {
	index     int
	parameter parameter.Parameter
	unit      string // empty for the parameter's own
}

// columns returns the columns with values of known parameters: "PM2.5", "pm25",
// "Ozone (ug/m3)", "AT (degree C)". A substance without a unit has its own, as in
// CPCB's exports (CO in mg/m³, NOx in ppb). A weather column needs a unit, because
// its short names ("at", "sr") are ambiguous. Other columns are ignored and not
// counted. If two columns have one parameter, the first is used.
func (h header) columns() []column {
	var found []column
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
		found = append(found, column{i, p, unit})
	}
	return found
}

// span reports whether a header has both columns of an interval's ends, and values,
// as in a CAAQM export.
func (h header) span() bool {
	return h.find("from date") >= 0 && h.find("to date") >= 0 && len(h.columns()) > 0
}
