// Package bulletin reads bulletins. A bulletin is the AQI that an agency has published for a city and a day. A
// description (YAML) defines where a record has its fields. Bulletins are stored in a table of their own, not as
// readings.
package bulletin

import (
	"strconv"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/record"
	"vayu/internal/config/section"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// Fields has the paths of a bulletin's fields in a record.
type Fields struct {
	City, State            []record.Path
	Index, Category        []record.Path
	Prominent              []record.Path // names of pollutants, separated by commas
	StationsUsed, Stations []record.Path
}

// Read reads the section `bulletin` of a description. It returns nil if there is none.
func Read(s *section.Section) *Fields {
	if !s.Present() {
		return nil
	}
	f := &Fields{
		City: record.ReadPaths(s, "city"), State: record.ReadPaths(s, "state"), Index: record.ReadPaths(s, "index"),
		Category: record.ReadPaths(s, "category"), Prominent: record.ReadPaths(s, "prominent"),
		StationsUsed: record.ReadPaths(s, "stations-used"), Stations: record.ReadPaths(s, "stations"),
	}
	for key, paths := range map[string][]record.Path{"city": f.City, "index": f.Index, "category": f.Category} {
		if len(paths) == 0 {
			s.Faultf(key, "is missing: its path")
		}
	}
	return f
}

// Add adds the bulletin in a record to a builder, which counts an invalid bulletin as rejected. `at` is a time within
// the day of the bulletin; midnight belongs to the day that starts then.
func (f *Fields) Add(r *record.Frame, at time.Time, b *ingest.Builder) {
	text := func(paths []record.Path) string {
		t, _ := r.Text(paths)
		return strings.TrimSpace(t)
	}
	one := air.Bulletin{Day: schema.DayOf(at.Add(time.Second)), Name: text(f.City), State: text(f.State), Category: text(f.Category)}
	index, reason := ingest.ParseValue(r.Number(text(f.Index)))
	if reason == ingest.None {
		one.AQI, one.StationsUsed, one.StationsTotal, reason = whole(index, text(f.StationsUsed), text(f.Stations))
	}
	if reason == ingest.None {
		one.Prominent, reason = pollutants(text(f.Prominent))
	}
	if reason != ingest.None {
		b.RejectField(reason, "bulletin")
		return
	}
	b.Bulletin(one)
}

// whole converts a bulletin's numbers to integers; an empty text becomes 0. It returns [ingest.None] if all are valid.
func whole(index float64, used, total string) (aqi, stationsUsed, stations int, reason ingest.Reason) {
	aqi = int(index)
	if float64(aqi) != index {
		return 0, 0, 0, ingest.BadNumber
	}
	for _, one := range []struct {
		text string
		into *int
	}{{used, &stationsUsed}, {total, &stations}} {
		if one.text == "" {
			continue
		}
		n, err := strconv.ParseUint(one.text, 10, 16)
		if err != nil {
			return 0, 0, 0, ingest.BadNumber
		}
		*one.into = int(n)
	}
	return aqi, stationsUsed, stations, ingest.None
}

// pollutants parses a list of pollutants such as "PM10, O3".
func pollutants(text string) ([]parameter.Parameter, ingest.Reason) {
	var all []parameter.Parameter
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" || name == "-" {
			continue
		}
		p, known := parameter.Parse(name)
		if !known || !p.Indexed() {
			return nil, ingest.UnknownPollutant
		}
		all = append(all, p)
	}
	return all, ingest.None
}
