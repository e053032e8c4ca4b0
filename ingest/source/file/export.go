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
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
)

// export reads an export of the CAAQM portal row by row, from CSV, Excel or JSON. An export consists of blocks. A
// block has lines about the station, a header with From Date and To Date, and rows with values.
//
// An export of one station has the name of the station in the row "Station", and again above the table. An export of
// several stations lists all names in the row "Station". Then each station has a block: a row with only the station's
// name, a header, and the rows of the whole period. The order of the list is unreliable, and a station without data
// may have no block. Therefore only the name above a block identifies its station.
//
// The name above a block may be missing. In an export of several stations, such a block is an error. In an export of
// one station with many parameters, the portal itself writes blocks without a name, each with other columns. Such a
// block is therefore an error only if it repeats a column of the previous block and goes back in time. It then seems
// to belong to another station.
type export struct {
	listed            []string // stations of the row "Station"
	name, city, state string   // of the current block; name is empty until it is found
	named             bool     // a name came after the last header
	doubtful          bool     // the block repeats columns and has no name
	interval          interval
	columns           []table.Column // nil before the first header
	station           int            // -1 before the station's first row
	last              time.Time      // beginning of the block's last row
}

func newExport() *export { return &export{station: -1} }

// several reports whether the export lists more than one station.
func (e *export) several() bool { return len(e.listed) > 1 }

// read reads one row. `before` is true for rows before the start position. From such a row, read takes only the station
// and the columns, and adds no readings.
func (e *export) read(cells [][]byte, before bool, b *ingest.Builder) error {
	key := bytes.TrimSpace(table.At(cells, e.interval.fromDate))
	if len(key) == 0 || key[0] < '0' || key[0] > '9' || len(table.At(cells, 1)) == 0 && e.title(cells) != "" {
		if !e.skipRemark(cells, b) && !before {
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
		if !table.Named([]byte(e.name)) {
			return ingest.BadReplyf("the table does not name its station")
		}
		e.station = b.Station(e.describe())
	}
	end, minutes, ok := e.interval.end(cells)
	if !ok {
		return table.RefuseAll(e.columns, ingest.BadTime, b)
	}
	return table.Concentrations(e.columns, cells, e.station, end, minutes, b)
}

// check returns an error for a row that may belong to another station.
func (e *export) check(cells [][]byte) error {
	if e.name == "" && e.several() {
		return ingest.BadReplyf("the export lists %d stations (%.200s), and the block that begins at %s does not name its own",
			len(e.listed), strings.Join(e.listed, ", "), table.At(cells, e.interval.fromDate))
	}
	begin, ok := e.interval.begin(cells)
	if !ok {
		return nil
	}
	if (e.doubtful || e.several()) && begin.Before(e.last) {
		return ingest.BadReplyf("in the block of %q the times go back at %s: a block of another station seems to begin there without its name",
			e.name, table.At(cells, e.interval.fromDate))
	}
	e.last = begin
	return nil
}

// describe returns the station of the current block. The city and the state come from the lines above the table, which
// may concern another station. So describe ignores the city if the export lists several stations or another name. It
// ignores a state that consists of several names.
func (e *export) describe() air.Station {
	city, state := e.city, e.state
	if _, _, ok := cpcbformat.Split(e.name); ok && (e.several() || len(e.listed) == 1 && e.listed[0] != e.name) {
		city = ""
	}
	if strings.Contains(state, ",") {
		state = ""
	}
	return cpcbformat.Station(e.name, city, state, 0, 0)
}

// title returns the station name in a row that has nothing but a station name, or "" for any other row.
func (e *export) title(cells [][]byte) string {
	var only string
	for i, cell := range cells {
		text := string(bytes.TrimSpace(cell))
		if text == "" || text == only {
			continue
		}
		if i < 2 && (strings.EqualFold(text, "from date") || strings.EqualFold(text, "to date")) {
			continue // the name may be in the first of two rows with headings
		}
		if only != "" {
			return ""
		}
		only = text
	}
	if only == "" {
		return ""
	}
	only = air.CleanPlace(only)
	if _, _, ok := cpcbformat.Split(only); ok || slices.Contains(e.listed, only) {
		return only
	}
	return ""
}

// remarks are beginnings of known lines without readings above and below a table.
var remarks = []string{
	"parameter", "avgperiod", "from", "to", "prescribed standards", "exceeding standards", "remarks",
	"central pollution control board", "continuous ambient air quality", "date:", "time:", "min", "max", "avg",
}

// skipRemark interprets a row without readings, such as a header. It returns false for an unknown row after a header.
func (e *export) skipRemark(cells [][]byte, b *ingest.Builder) bool {
	first, second := strings.TrimSpace(string(table.At(cells, 0))), strings.TrimSpace(string(table.At(cells, 1)))
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
	if h := table.HeaderOf(cells); h.Span() {
		h.Note(b)
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

// list parses the row "Station", which lists the stations of the export.
func (e *export) list(text string) {
	text = air.CleanPlace(text)
	e.listed = splitNames(text)
	if !e.several() {
		e.listed = []string{text}
		e.begin(text)
	}
}

// head begins a block at its header. If a name is above the header, the block belongs to the station with this name.
// Without a name, the block belongs to the previous station, or in an export of several stations to an unknown one.
func (e *export) head(h table.Header) {
	columns := h.Columns()
	e.doubtful = !e.named && slices.ContainsFunc(columns, func(c table.Column) bool {
		return slices.ContainsFunc(e.columns, func(old table.Column) bool { return old.Parameter == c.Parameter })
	})
	if !e.named && e.several() {
		e.name, e.station = "", -1
	}
	if !e.doubtful {
		e.last = time.Time{}
	}
	e.interval, e.columns, e.named = newInterval(h), columns, false
}

// begin sets the station of the next block.
func (e *export) begin(name string) {
	e.named = true
	if name = air.CleanPlace(name); name != e.name {
		e.name, e.station = name, -1
	}
}

// splitNames splits a list of station names. The names contain commas, too: "PLACE, CITY - AGENCY, PLACE, CITY -
// AGENCY". A place may contain " - " ("Sector - 62, Noida - IMD"). Therefore the agency follows the first " - " after a
// comma.
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

// parseExport reads a CSV export of the CAAQM portal.
func parseExport(in *table.Input, b *ingest.Builder) error {
	text, err := in.Text()
	if err != nil {
		return err
	}
	defer text.Close()
	head, _ := text.Peek(min(table.HeadBytes, text.Size()))
	separator := exportSeparator(head)
	e, l := newExport(), table.Lines{In: text.Reader}
	b.Describe(l.Record)
	var cells [][]byte
	for {
		line, offset, fine, err := l.Next()
		if errors.Is(err, io.EOF) {
			b.At(l.Offset)
			return nil
		}
		if err != nil {
			return err
		}
		before := offset < in.Start
		if !before {
			b.At(offset)
		}
		if fine {
			cells, fine = table.Split(line, separator, cells)
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

// exportSeparator returns the separator of the cells in the first table of a text.
func exportSeparator(head []byte) byte {
	for line := range bytes.Lines(head) {
		if h := table.NewHeader(bytes.Clone(line)); h.Span() {
			return h.Separator
		}
	}
	return ','
}
