package file

import (
	"bytes"
	"slices"
	"strings"

	"vayu/schema/parameter"
)

// header is the first line of a table: its separator and its columns' names in
// lower case without blanks at the ends.
type header struct {
	separator byte
	names     []string
}

// newHeader reads a line, which it may change. The separator is the one that
// makes the most columns.
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

// headerOf reads a header that has been cut into cells already.
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

// is reports whether a kind of table accepts the header.
func (h header) is(open func(header) (row, bool)) bool {
	_, ok := open(h)
	return ok
}

// column is a column with the values of one parameter.
type column struct {
	index     int
	parameter parameter.Parameter
	unit      string // empty when it is the parameter's own
}

// columns returns the columns that hold values of parameters of the catalogue:
// "PM2.5", "pm25", "Ozone (ug/m3)", "AT (degree C)". A substance without a unit
// has its own, as in every export of CPCB (CO in mg/m³, NOx in ppb). A column of
// weather needs a unit, because its short names ("at", "sr") name other things
// too. Other columns are not counted as rejected. Of two columns for a parameter
// the first counts.
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

// span reports whether a header has the two columns in which an export of the
// CAAQM portal gives the ends of an interval, and figures.
func (h header) span() bool {
	return h.find("from date") >= 0 && h.find("to date") >= 0 && len(h.columns()) > 0
}
