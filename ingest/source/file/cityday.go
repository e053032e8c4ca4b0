package file

import (
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/schema"
)

// cityDay is a table of daily means per city (the public set city_day.csv). Each
// city is one station, and the day's value is at 24:00 IST. The column AQI is the
// author's own and is ignored.
type cityDay struct {
	city, day int
	columns   []column
	stations  stations
	clock     clock
}

func newCityDay(h header) (row, bool) {
	t := &cityDay{city: h.find("city"), day: h.find("date"), columns: h.columns()}
	return t, t.city >= 0 && t.day >= 0 && len(t.columns) >= 3 && h.find("station", "site_name", "stationid") < 0
}

func (t *cityDay) read(cells [][]byte, b *ingest.Builder) error {
	city := cells[t.city]
	if !named(city) {
		return refuseAll(t.columns, ingest.NoStation, b)
	}
	start, ok := t.clock.parse(cells[t.day], cpcbformat.ParseDate)
	if !ok {
		return refuseAll(t.columns, ingest.BadTime, b)
	}
	station := t.stations.find(city, false, b, func() schema.Station {
		return schema.Station{
			ID: schema.StationID("citymean", string(city)), Name: string(city), City: string(city),
			Kind: schema.CityMean, Attribution: cpcbformat.Owner, Licence: cpcbformat.Licence,
		}
	})
	return concentrations(t.columns, cells, station, start.Add(24*time.Hour), schema.Daily, b)
}
