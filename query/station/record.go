package station

import (
	"encoding/json"
	"fmt"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/snapshot"
	"vayu/schema/air"
)

// Record selects the form of the record of a station in GET /v1/aqi.
type Record struct {
	City   string    // name of the place in the record
	Date   string    // day of the figures; "" for current ones
	Detail bool      // with the fields of view=detail
	Now    time.Time // time for which the field stale is computed
}

// Answer returns the record of a station with its own figures, which must have an AQI. A pollutant that the station
// does not measure is null.
func (r Record) Answer(st *air.Station, f *aggregate.Figures) (httpapi.Response, error) {
	d := snapshot.DetailRecord{Record: f.Record(r.City), Date: r.Date, Station: st.ID}
	if !r.Detail {
		body := d.Record.Append(make([]byte, 0, 320))
		if r.Date != "" {
			body = append(body, `,"date":"`+r.Date+`"`...)
		}
		return httpapi.Ready(air.AppendStation(append(body, '}'), st.ID), time.Time{}), nil
	}
	d.Detail = snapshot.DetailOf(f, r.Now)
	d.State, d.StationsUsed, d.StationsTotal = st.State, 1, 1
	d.Stations = []air.StationFigure{{
		ID: st.ID, Name: st.Name, Kind: st.Kind.String(), AQI: snapshot.OptionalAQI(f.AQI), Updated: aggregate.Instant(f.Updated),
	}}
	if st.Attribution != "" {
		d.Attribution = []string{st.Attribution}
	}
	if st.Source != "" {
		d.Source = []string{st.Source}
	}
	body, err := json.Marshal(d)
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("rendering the record of %q: %w", st.ID, err)
	}
	return httpapi.Ready(body, time.Time{}), nil
}
