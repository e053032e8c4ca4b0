package file

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"vayu/ingest"
	"vayu/ingest/network"
	"vayu/schema"
)

// export reads an export of the CAAQM portal row by row, be it CSV, Excel or
// JSON: lines about the station, a header with From Date and To Date, rows. A
// file may hold several such blocks.
type export struct {
	name, city, state string
	interval          interval
	columns           []column // nil until a header was met
	station           int      // -1 until the station's first row
}

func newExport() *export { return &export{station: -1} }

// read takes in one row. Rows before the position to go on from only tell
// which station and which columns follow.
func (e *export) read(cells [][]byte, before bool, b *ingest.Builder) error {
	key := bytes.TrimSpace(at(cells, e.interval.fromDate))
	if len(key) == 0 || key[0] < '0' || key[0] > '9' {
		if !e.remark(cells) && !before {
			b.Reject(ingest.BadLine)
		}
		return nil
	}
	if e.columns == nil || before {
		return nil
	}
	if e.station < 0 {
		if !named([]byte(e.name)) {
			return refuse("the table does not say which station it is from")
		}
		e.station = b.Station(network.Station(e.name, e.city, e.state, 0, 0))
	}
	end, minutes, ok := e.interval.end(cells)
	if !ok {
		return refuseAll(e.columns, ingest.BadTime, b)
	}
	return concentrations(e.columns, cells, e.station, end, minutes, b)
}

// remarks are the lines that an export has beside its table and that say
// nothing about its readings.
var remarks = []string{
	"parameter", "avgperiod", "from", "to", "prescribed standards", "exceeding standards", "remarks",
	"central pollution control board", "continuous ambient air quality", "date:", "time:", "min", "max", "avg",
}

// remark takes in a row without readings. It reports false for one that stands
// in a table and means nothing.
func (e *export) remark(cells [][]byte) bool {
	first, second := strings.TrimSpace(string(at(cells, 0))), strings.TrimSpace(string(at(cells, 1)))
	switch strings.ToLower(first) {
	case "":
		return len(bytes.TrimSpace(bytes.Join(cells, nil))) == 0 || e.columns == nil
	case "state":
		e.state = second
		return true
	case "city":
		e.city = second
		return true
	case "station":
		e.begin(second)
		return true
	}
	if h := headerOf(cells); h.span() {
		e.interval, e.columns = newInterval(h), h.columns()
		return true
	}
	if _, _, ok := network.Split(first); ok && second == "" {
		e.begin(first)
		return true
	}
	for _, known := range remarks {
		if strings.HasPrefix(strings.ToLower(first), known) {
			return true
		}
	}
	return e.columns == nil
}

// begin starts the block of a station.
func (e *export) begin(name string) {
	if schema.CleanPlace(name) != schema.CleanPlace(e.name) {
		e.name, e.station = name, -1
	}
}

// parseExport reads an export in CSV.
func parseExport(in *source, b *ingest.Builder) error {
	text, err := in.text()
	if err != nil {
		return err
	}
	defer text.Close()
	head, _ := text.Peek(min(headBytes, text.Size()))
	separator := exportSeparator(head)
	e, l := newExport(), lines{in: text.Reader}
	var cells [][]byte
	for {
		line, offset, fine, err := l.next()
		if errors.Is(err, io.EOF) {
			b.At(l.offset)
			return nil
		}
		if err != nil {
			return err
		}
		before := offset < in.start
		if !before {
			b.At(offset)
		}
		if fine {
			cells, fine = split(line, separator, cells)
		}
		if !fine {
			if !before {
				b.Reject(ingest.BadLine)
			}
			continue
		}
		if err := e.read(cells, before, b); err != nil {
			return err
		}
	}
}

// exportSeparator is the separator of the first table in a text.
func exportSeparator(head []byte) byte {
	for line := range bytes.Lines(head) {
		if h := newHeader(bytes.Clone(line)); h.span() {
			return h.separator
		}
	}
	return ','
}
