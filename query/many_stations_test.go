package query_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// Queries name stations in the URL, which servers limit to a megabyte. A snapshot
// works with more names than that.
func TestMoreStationsThanOneQueryNames(t *testing.T) {
	t.Parallel()
	const stations = 12_000
	w := newFixture(t)
	id := "concat('made-', leftPad(toString(number), 90, '0'))"
	w.exec(t, fmt.Sprintf(`INSERT INTO %s.station (id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen)
		SELECT %s, 'made', 'made', 'Pune', 'Maharashtra', 18.52 + number / 1000000, 73.85, 'reference', 'Made', 'none', toDateTime(%d), toDateTime(%[3]d) FROM numbers(%[4]d)`,
		w.live, id, hour.Unix(), stations))
	before := figure{at: hour.Add(-time.Hour), aqi: 95, amount: [6]float64{60, 90, 20, 7.5, 0.8, 33}}
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station_hour (station,%s) SELECT %s,%s FROM numbers(%d)", w.live, figureColumns, id, before.columns(), stations))
	holed := figure{at: hour, aqi: 90, amount: [6]float64{60, 90, 20, gap, 0.8, gap}}
	w.cityHour(t, w.live, "Pune", "Maharashtra", holed)
	w.rollup(t, w.live, hour)
	w.serve(t)
	w.refresh(t)
	for _, path := range []string{
		"/v1/aqi?city=Pune",
		"/v1/aqi?lat=18.52&lon=73.85",
	} {
		status, _, body := w.get(t, path)
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
			continue
		}
		if r := record(t, body); r.SO2 != 750 || r.O3 != 3300 {
			t.Errorf("%s: SO2 %v and O3 %v, want 750 and 3300 of the stations: %s", path, r.SO2, r.O3, body)
		}
	}
}
