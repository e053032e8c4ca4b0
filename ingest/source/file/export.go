package file

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/schema"
)

// export reads an export of the CAAQM portal row by row, be it CSV, Excel or
// JSON: lines about the station, a header with From Date and To Date, rows. A
// file may hold several such blocks.
//
// An export of one station names it in the row "Station" and again above the
// table. An export of several stations has all of their names in the row
// "Station", and then for each station a block: a row that holds nothing but
// the station's name, above the columns of figures; a header; the rows of the
// whole period. The list has no order that could be relied on, and a station
// without data may lack its block, so only the name above a block says whose it
// is. Under a list a block without a name is refused. Where the same columns
// begin anew without a name and the times go back, a name has been lost: that is
// refused with one name, too. (The portal cuts one station's many parameters into
// several tables, whose columns differ.)
type export struct {
	listed            []string // stations of the row "Station"
	name, city, state string   // of the block at hand; no name until it is known
	named             bool     // a name was met since the last header
	doubtful          bool     // the block repeats columns and has no name
	interval          interval
	columns           []column  // nil until a header was met
	station           int       // -1 until the station's first row
	last              time.Time // beginning of the block's last row
}

func newExport() *export { return &export{station: -1} }

// several reports whether the export lists more than one station.
func (e *export) several() bool { return len(e.listed) > 1 }

// read takes in one row. Rows before the position to go on from only tell
// which station and which columns follow.
func (e *export) read(cells [][]byte, before bool, b *ingest.Builder) error {
	key := bytes.TrimSpace(at(cells, e.interval.fromDate))
	if len(key) == 0 || key[0] < '0' || key[0] > '9' || len(at(cells, 1)) == 0 && e.title(cells) != "" {
		if !e.skipRemark(cells) && !before {
			b.Reject(ingest.BadLine)
		}
		return nil
	}
	if e.columns == nil {
		return nil
	}
	if err := e.check(cells); err != nil {
		return err
	}
	if before {
		return nil
	}
	if e.station < 0 {
		if !named([]byte(e.name)) {
			return refuse("the table does not say which station it is from")
		}
		e.station = b.Station(e.describe())
	}
	end, minutes, ok := e.interval.end(cells)
	if !ok {
		return refuseAll(e.columns, ingest.BadTime, b)
	}
	return concentrations(e.columns, cells, e.station, end, minutes, b)
}

// check refuses a row of which it is not certain to which station it belongs.
func (e *export) check(cells [][]byte) error {
	if e.name == "" && e.several() {
		return refuse("the export lists %d stations (%.200s), and the block that begins at %s does not name its own",
			len(e.listed), strings.Join(e.listed, ", "), at(cells, e.interval.fromDate))
	}
	begin, ok := e.interval.begin(cells)
	if !ok {
		return nil
	}
	if (e.doubtful || e.several()) && begin.Before(e.last) {
		return refuse("in the block of %q the times go back at %s: a block of another station seems to begin there without its name",
			e.name, at(cells, e.interval.fromDate))
	}
	e.last = begin
	return nil
}

// describe is the station of the block at hand. City and state of an export of
// one station are of that station; of several, the state counts if it is one.
func (e *export) describe() schema.Station {
	city, state := e.city, e.state
	if _, _, ok := cpcbformat.Split(e.name); ok && (e.several() || len(e.listed) == 1 && e.listed[0] != e.name) {
		city = ""
	}
	if strings.Contains(state, ",") {
		state = ""
	}
	return cpcbformat.Station(e.name, city, state, 0, 0)
}

// title returns the name of a station that is all that a row holds, wherever in
// the row it stands; else nothing.
func (e *export) title(cells [][]byte) string {
	var only string
	for i, cell := range cells {
		text := string(bytes.TrimSpace(cell))
		if text == "" || text == only {
			continue
		}
		if i < 2 && (strings.EqualFold(text, "from date") || strings.EqualFold(text, "to date")) {
			continue // two rows of headings, of which the first has the name
		}
		if only != "" {
			return ""
		}
		only = text
	}
	if only == "" {
		return ""
	}
	only = schema.CleanPlace(only)
	if _, _, ok := cpcbformat.Split(only); ok || slices.Contains(e.listed, only) {
		return only
	}
	return ""
}

// remarks are the lines that an export has beside its table and that say
// nothing about its readings.
var remarks = []string{
	"parameter", "avgperiod", "from", "to", "prescribed standards", "exceeding standards", "remarks",
	"central pollution control board", "continuous ambient air quality", "date:", "time:", "min", "max", "avg",
}

// remark takes in a row without readings. It reports false for one that stands
// in a table and means nothing.
func (e *export) skipRemark(cells [][]byte) bool {
	first, second := strings.TrimSpace(string(at(cells, 0))), strings.TrimSpace(string(at(cells, 1)))
	switch strings.ToLower(first) {
	case "state":
		e.state = second
		return true
	case "city":
		e.city = second
		return true
	case "station":
		e.list(second)
		return true
	}
	if h := headerOf(cells); h.span() {
		e.head(h)
		return true
	}
	if title := e.title(cells); title != "" {
		if names := splitNames(title); len(names) > 1 {
			e.listed = names
			return true
		}
		e.begin(title)
		return true
	}
	if len(bytes.TrimSpace(bytes.Join(cells, nil))) == 0 {
		return true
	}
	for _, known := range remarks {
		if strings.HasPrefix(strings.ToLower(first), known) {
			return true
		}
	}
	return e.columns == nil
}

// list takes in the row "Station".
func (e *export) list(text string) {
	text = schema.CleanPlace(text)
	e.listed = splitNames(text)
	if !e.several() {
		e.listed = []string{text}
		e.begin(text)
	}
}

// head begins a block. In an export of several stations its name is the one
// that stands above it.
func (e *export) head(h header) {
	columns := h.columns()
	e.doubtful = !e.named && slices.ContainsFunc(columns, func(c column) bool {
		return slices.ContainsFunc(e.columns, func(old column) bool { return old.parameter == c.parameter })
	})
	if !e.named && e.several() {
		e.name, e.station = "", -1
	}
	if !e.doubtful {
		e.last = time.Time{}
	}
	e.interval, e.columns, e.named = newInterval(h), columns, false
}

// begin notes the name of the station whose block follows.
func (e *export) begin(name string) {
	e.named = true
	if name = schema.CleanPlace(name); name != e.name {
		e.name, e.station = name, -1
	}
}

// splitNames cuts a list of names in the network's form, which have commas
// themselves: "PLACE, CITY - AGENCY, PLACE, CITY - AGENCY". A place may hold
// " - ", too ("Sector - 62, Noida - IMD"), so a name ends with the first " - "
// after a comma.
func splitNames(text string) []string {
	var names, parts []string
	for part := range strings.SplitSeq(text, ",") {
		parts = append(parts, strings.TrimSpace(part))
		if len(parts) > 1 && strings.Contains(part, " - ") {
			names, parts = append(names, strings.Join(parts, ", ")), nil
		}
	}
	return names
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
