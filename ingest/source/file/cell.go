package file

import (
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/schema"
	"vayu/schema/parameter"
)

// at returns a cell, empty for a column that the table lacks.
func at(cells [][]byte, index int) []byte {
	if index < 0 || index >= len(cells) {
		return nil
	}
	return cells[index]
}

// stations remembers the builder's numbers of stations by the text that names
// them, because a lookup by identity would spell it out for every row.
type stations struct {
	known map[string]*site
	last  *site
}

// site is a station as a file names it.
type site struct {
	text   string
	number int
	placed bool // a row with a position was met
}

// find returns the number of the station that a text names. describe is called
// for a text that is new, and once more for the first row that has a position
// when the rows before had none.
func (s *stations) find(name []byte, placed bool, b *ingest.Builder, describe func() schema.Station) int {
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

// named reports whether a cell names anything: its slug, which identities are
// made of, is not empty.
func named(cell []byte) bool {
	for _, c := range cell {
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			return true
		}
	}
	return schema.Slug(string(cell)) != ""
}

// clock reads times and remembers the last one, because rows of one time stand
// together.
type clock struct {
	text string
	at   time.Time
	ok   bool
}

func (c *clock) parse(text []byte, parse func([]byte) (time.Time, bool)) (time.Time, bool) {
	if c.text == "" || string(text) != c.text {
		c.text = string(text)
		c.at, c.ok = parse(text)
	}
	return c.at, c.ok
}

// parameters remembers how names of parameters were understood. A file has a
// dozen of them; more are looked up each time.
type parameters map[string]parameter.Parameter

func (known parameters) parse(name []byte) parameter.Parameter {
	p, ok := known[string(name)]
	if !ok {
		p, _ = parameter.Parse(string(name))
		if len(known) < 64 {
			known[string(name)] = p
		}
	}
	return p
}

// position reads a station's position and counts one that is none.
func position(latitude, longitude []byte, b *ingest.Builder) (lat, lon float64) {
	lat, lon, reason := cpcbformat.Position(string(latitude), string(longitude))
	if reason != ingest.None {
		b.Reject(reason)
	}
	return lat, lon
}

// concentrations adds the figures of one row of a wide table.
func concentrations(columns []column, cells [][]byte, station int, end time.Time, averaging uint16, b *ingest.Builder) error {
	for i := range columns {
		c := &columns[i]
		v, reason := ingest.ParseValueOf(c.parameter, string(at(cells, c.index)))
		if reason == ingest.None && c.unit != "" {
			v, _ = c.parameter.Convert(v, c.unit)
		}
		r := schema.Reading{Parameter: c.parameter, At: end, Value: v, Kind: schema.Concentration, Averaging: averaging}
		switch reason {
		case ingest.None:
			if err := b.Add(station, r); err != nil {
				return err
			}
		case ingest.MissingValue:
			b.Missing(station, r)
		default:
			b.Reject(reason)
		}
	}
	return nil
}

// refuseAll counts every figure of a row for one reason.
func refuseAll(columns []column, reason ingest.Reason, b *ingest.Builder) error {
	for range columns {
		b.Reject(reason)
	}
	return nil
}
