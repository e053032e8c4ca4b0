package file

import (
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
)

// cityDay is a table of daily means per city (the public set city_day.csv). Each
// city is one station, and the day's value is at 24:00 IST. The column AQI is the
// author's own and is ignored.
type cityDay struct {
	city, day int
	columns   []table.Column
	stations  table.Stations
	clock     table.Clock
}

func newCityDay(h table.Header) (table.Row, bool) {
	t := &cityDay{city: h.Find("city"), day: h.Find("date"), columns: h.Columns()}
	return t, t.city >= 0 && t.day >= 0 && len(t.columns) >= 3 && h.Find("station", "site_name", "stationid") < 0
}

func (t *cityDay) Read(cells [][]byte, b *ingest.Builder) error {
	city := cells[t.city]
	if !table.Named(city) {
		return table.RefuseAll(t.columns, ingest.NoStation, b)
	}
	start, ok := t.clock.Parse(cells[t.day], cpcbformat.ParseDate)
	if !ok {
		return table.RefuseAll(t.columns, ingest.BadTime, b)
	}
	station := t.stations.Find(city, false, b, func() air.Station {
		return air.Station{
			ID: air.StationID("citymean", string(city)), Name: string(city), City: string(city),
			Kind: air.CityMean, Attribution: cpcbformat.Owner, Licence: cpcbformat.Licence,
		}
	})
	return table.Concentrations(t.columns, cells, station, start.Add(24*time.Hour), air.Daily, b)
}
