package mapping

import (
	"time"

	"go.yaml.in/yaml/v4"

	"vayu/ingest/source/described/record"
	"vayu/ingest/source/file/table"
	"vayu/internal/config/section"
	"vayu/schema/air"
)

// spacing means that the averaging interval of a record is the most frequent time between consecutive records of its
// series. A series has the records of one sensor or station.
type spacing struct {
	series    []record.Path // paths of the text that identifies the series
	most      uint16        // longest interval in minutes, even if records are further apart
	otherwise uint16        // interval in minutes of a series with one record; 0 for the interval of the whole file
}

// mostSeries is the largest number of series in a file or reply for which the spacing is computed. It bounds the
// memory. Records of further series have the interval `otherwise`, or are rejected if the description does not set it.
const mostSeries = 200_000

// readSpacing reads the key `averaging` if it is a section. It returns nil if the key states an interval or is missing.
func readSpacing(root *section.Section) *spacing {
	if n := root.Node("averaging"); n == nil || n.Kind == yaml.ScalarNode {
		return nil
	}
	s := root.Section("averaging")
	sp := &spacing{series: record.ReadPaths(s, "spacing-of")}
	if len(sp.series) == 0 {
		s.Faultf("spacing-of", "is missing: the path of what has rows at equal distances, such as a sensor")
	}
	day := time.Duration(air.Daily) * time.Minute
	sp.most = uint16(s.Duration("most", day, time.Minute, day) / time.Minute)
	sp.otherwise = uint16(s.Duration("otherwise", 0, time.Minute, day) / time.Minute)
	return sp
}

// note counts in `all` the time since the series' previous record. If there are mostSeries series, it ignores new ones.
func (sp *spacing) note(all *table.Spacings, f *record.Frame, at time.Time) {
	if key, _ := f.Text(sp.series); key != "" && (all.Len() < mostSeries || all.Has([]byte(key))) {
		all.Note([]byte(key), at)
	}
}

// The method `of` returns the averaging interval of a record in minutes, or 0 if the interval is unknown.
func (sp *spacing) of(all *table.Spacings, f *record.Frame) uint16 {
	key, _ := f.Text(sp.series)
	d := all.Own([]byte(key))
	if d == 0 && sp.otherwise > 0 {
		return sp.otherwise
	}
	if d == 0 {
		d = all.Of([]byte(key))
	}
	minutes, ok := table.Minutes(d)
	if !ok {
		return 0
	}
	return min(minutes, sp.most)
}
