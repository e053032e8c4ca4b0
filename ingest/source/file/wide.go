package file

import (
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/file/table"
	"vayu/schema"
	"vayu/schema/air"
)

// wide is a table of one station with one row for each time. CPCB's yearly files have this form
// ("Raw_data_1Hr_2023_site_…csv": Timestamp, PM2.5 (µg/m³), …). Tables that a program has extracted from the portal's
// exports (dates, PM25, …) have this form, too. The station is found in the name of the file or in a station list (see
// [stationOfFile]).
//
// A time is normally the start of its interval. CPCB's yearly files start at 1 January 00:00 and end one interval
// before the next year (8,760 hours or 35,040 quarter-hours). Programs that extract tables usually keep the portal's
// column From Date. A comparison supports this. Of 1,788 daily means of one station in 2020, 716 equal the portal's if
// times are starts, and only 219 if they are ends.
//
// Some tables keep the column To Date instead. The method `decide` recognises them by two signs. Their first time is
// one interval after midnight, because an export starts at midnight. Their last time is midnight, or is not a multiple
// of the interval, because an export ends with a day or when it is made. Starts of intervals are always multiples.
type wide struct {
	stamp    int
	columns  []table.Column
	station  air.Station
	clock    table.Clock
	spacings table.Spacings
	period   time.Duration // length of the intervals; before the call of `decide`, the length in the file's name or 0

	first, last time.Time
	ends        bool // times are ends of intervals
	decided     bool
	number      int
}

func newWide(h table.Header) (table.Row, bool) {
	t := &wide{stamp: h.Find("timestamp", "dates"), columns: h.Columns(), spacings: table.NewSpacings(), number: -1}
	located := h.Find("station", "station name", "station_name", "site_name", "stationid", "city", "location", "from date", "from_date") >= 0
	return t, t.stamp >= 0 && len(t.columns) > 0 && !located
}

func (t *wide) ResolveStation(in *table.Input) error {
	var err error
	t.station, t.period, err = stationOfFile(in.Path)
	return err
}

func (t *wide) time(cells [][]byte) (time.Time, bool) {
	return t.clock.Parse(cells[t.stamp], cpcbformat.ParseTime)
}

func (t *wide) Prescan(cells [][]byte) {
	at, ok := t.time(cells)
	if !ok {
		return
	}
	t.spacings.Note(nil, at)
	if t.first.IsZero() || at.Before(t.first) {
		t.first = at
	}
	if at.After(t.last) {
		t.last = at
	}
}

// decide sets the length of the intervals, and whether the times are the ends of the intervals (t.ends) or the starts.
func (t *wide) decide() {
	t.decided = true
	if d := t.spacings.Of(nil); d > 0 {
		t.period = d
	}
	if t.period <= 0 {
		return
	}
	last := sinceMidnight(t.last)
	t.ends = sinceMidnight(t.first) == t.period && (last == 0 || last%t.period != 0)
}

// sinceMidnight returns the time of day in India. At midnight it is 0, not 24 h.
func sinceMidnight(t time.Time) time.Duration { return t.Sub(schema.DayOf(t.Add(time.Second)).Start()) }

func (t *wide) Read(cells [][]byte, b *ingest.Builder) error {
	if !t.decided {
		t.decide()
	}
	if t.number < 0 {
		t.number = b.Station(t.station)
	}
	at, ok := t.time(cells)
	minutes, known := table.Minutes(t.period)
	if !ok || !known {
		return table.RefuseAll(t.columns, ingest.BadTime, b)
	}
	if !t.ends {
		return table.Concentrations(t.columns, cells, t.number, at.Add(t.period), minutes, b)
	}
	if cut, ok := table.Minutes(sinceMidnight(at) % t.period); ok {
		minutes = cut // the last interval may be shorter, because it ends at the time of the export
	}
	return table.Concentrations(t.columns, cells, t.number, at, minutes, b)
}
