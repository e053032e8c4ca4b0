package table

import (
	"math"
	"strconv"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// At returns the cell of a row at an index, or nil if the index is negative or the row is too short.
func At(cells [][]byte, index int) []byte {
	if index < 0 || index >= len(cells) {
		return nil
	}
	return cells[index]
}

// Stations caches the number that [ingest.Builder.Station] returns for a station, by the text that names the station in
// the table. Without the cache, the station's id would be computed for every row.
type Stations struct {
	known map[string]*site
	last  *site
}

// site is a station that a file names.
type site struct {
	text   string
	number int
	placed bool // a row with the station's position has been read
}

// Find returns the number of the station that a text names. For a new text, it calls the function `describe`. `placed`
// means that the row has the station's position. If the first row of the station had no position, Find calls `describe`
// again for the first row that has one.
func (s *Stations) Find(name []byte, placed bool, b *ingest.Builder, describe func() air.Station) int {
	if s.last == nil || string(name) != s.last.text {
		s.last = s.known[string(name)]
	}
	if s.last == nil {
		if s.known == nil {
			s.known = make(map[string]*site)
		}
		s.last = &site{text: string(name), placed: placed, number: b.Station(describe())}
		s.known[s.last.text] = s.last
	}
	if placed && !s.last.placed {
		s.last.placed = true
		b.Station(describe())
	}
	return s.last.number
}

// Named reports whether a cell contains a name: a text with at least one letter or digit.
func Named(cell []byte) bool {
	for _, c := range cell {
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			return true
		}
	}
	return air.Slug(string(cell)) != ""
}

// Clock parses times and caches the last one, because consecutive rows often share a time.
type Clock struct {
	text string
	at   time.Time
	ok   bool
}

// Parse parses a time with the function `parse`, or returns the cached result if the text is the same as in the last
// call. It returns false for an invalid time.
func (c *Clock) Parse(text []byte, parse func([]byte) (time.Time, bool)) (time.Time, bool) {
	if c.text == "" || string(text) != c.text {
		c.text = string(text)
		c.at, c.ok = parse(text)
	}
	return c.at, c.ok
}

// Parameters caches parsed names of parameters. A file has about a dozen names, so the cache holds only 64. If it is
// full, Parse parses other names each time.
type Parameters map[string]parameter.Parameter

// Parse parses the name of a parameter. For an unknown name it returns an invalid parameter.
func (known Parameters) Parse(name string) parameter.Parameter {
	p, ok := known[name]
	if !ok {
		p, _ = parameter.Parse(name)
		if len(known) < 64 {
			known[strings.Clone(name)] = p
		}
	}
	return p
}

// Position parses a station's position. It counts an invalid position as rejected.
func Position(latitude, longitude []byte, b *ingest.Builder) (lat, lon float64) {
	lat, lon, reason := cpcbformat.Position(string(latitude), string(longitude))
	if reason != ingest.None {
		b.RejectPosition("", string(latitude), string(longitude))
	}
	return lat, lon
}

// Concentrations adds the values in a row of a table that has a column for each parameter. `averaging` is in minutes.
func Concentrations(columns []Column, cells [][]byte, station int, end time.Time, averaging uint16, b *ingest.Builder) error {
	for i := range columns {
		c := &columns[i]
		v, reason := ingest.ParseValueOf(c.Parameter, string(At(cells, c.Index)))
		if reason == ingest.None && c.Unit != "" {
			v, _ = c.Parameter.Convert(v, c.Unit)
		}
		r := air.Reading{Parameter: c.Parameter, At: end, Value: v, Kind: air.Concentration, Averaging: averaging}
		switch reason {
		case ingest.None:
			if err := b.Add(station, r); err != nil {
				return err
			}
		case ingest.MissingValue:
			b.Missing(station, r)
		default:
			b.RejectField(reason, c.Parameter.ID())
		}
	}
	return nil
}

// RefuseAll counts every value of a row as rejected, for the given reason.
func RefuseAll(columns []Column, reason ingest.Reason, b *ingest.Builder) error {
	for i := range columns {
		b.RejectField(reason, columns[i].Parameter.ID())
	}
	return nil
}

// ExcelTime parses the form in which Excel stores a time: a number of days since 30 December 1899. It rounds to the
// minute, and accepts only days from 2000 to 2099. Excel's times have no zone; the result has the same clock time in
// UTC.
func ExcelTime(text []byte) (time.Time, bool) {
	const first, last, epoch = 36526, 73050, 25569 // 2000-01-01, 2100-01-01, 1970-01-01
	if len(text) < 5 || len(text) > 24 {
		return time.Time{}, false
	}
	days, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(days >= first && days < last) {
		return time.Time{}, false
	}
	return time.Unix(int64(math.Round((days-epoch)*1440))*60, 0).UTC(), true
}
