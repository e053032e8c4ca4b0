package forecast

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vayu/internal/testing/realdata"
	"vayu/schema"
)

// stationHour is a mean of PM2.5 of an hour.
type stationHour struct {
	station string
	at      time.Time // its end
	value   float64
}

func (w *fixture) stationHours(all []stationHour) {
	w.Helper()
	batch, err := w.db.Conn().PrepareBatch(w.Context(), "INSERT INTO "+w.name+".station_parameter_hour (station, parameter, kind, at, mean, count, expected)")
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = batch.Close() }()
	for _, h := range all {
		if err := batch.Append(h.station, "pm25", "concentration", h.at, &h.value, uint16(1), uint16(1)); err != nil {
			w.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		w.Fatal(err)
	}
}

// station stores a public station in a city of its own.
func (w *fixture) station(id string) {
	w.Helper()
	w.run("INSERT INTO %s.station (id, name, city, state, kind) VALUES ('" + id + "', '" + id + "', 'city of " + id + "', '', 'reference')")
}

// quarterHours returns the hourly means of PM2.5 of a station with readings of 15 minutes, up to an Indian day. A
// reading is named by the beginning of its interval.
func quarterHours(t testing.TB, name string, last schema.Day) []stationHour {
	t.Helper()
	file, err := os.Open(realdata.Path(t, "caaqm15/"+name+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(unzipped).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[time.Time][2]float64{}
	for _, row := range rows[1:] {
		layout := time.DateTime
		if !strings.HasPrefix(row[1], "2020") {
			layout = "02-01-2006 15:04"
		}
		from, err := time.Parse(layout, row[1])
		value, none := strconv.ParseFloat(row[2], 64)
		if err != nil || none != nil {
			continue
		}
		at := from.Truncate(time.Hour).Add(time.Hour - schema.IndiaOffset)
		if !at.After(last.End()) {
			sums[at] = [2]float64{sums[at][0] + value, sums[at][1] + 1}
		}
	}
	all := make([]stationHour, 0, len(sums))
	for at, sum := range sums {
		all = append(all, stationHour{station: name, at: at, value: sum[0] / sum[1]})
	}
	return all
}

// TestHoursOfRealStations issues forecasts in three weeks from hours of real stations, 30 hours apart, so at each time of
// the day. The model beats persistence, and four in five observations are within the interval.
func TestHoursOfRealStations(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first, last := day(t, "2020-02-18"), day(t, "2020-03-08")
	files, err := filepath.Glob(realdata.Path(t, "caaqm15") + "/*.csv.gz")
	if err != nil || len(files) != 15 {
		t.Fatalf("%d files of stations (%v), want 15", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".csv.gz")
		w.station(name)
		w.stationHours(quarterHours(t, name, last+3))
	}
	var fitted time.Time
	for base := first.Start(); base.Before(last.End()); base = base.Add(5 * hoursEvery) {
		if base.Sub(fitted) > 6*fitHoursEvery {
			fitted = base
			if err := w.fitHours(t.Context(), "r", "fit-"+hourText(base), base, fitted); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.issueHours(t.Context(), "r", hourText(base), base, base, fitted); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range w.text(`SELECT concat(place_kind, ' ', toString(until), ' h, ', name, ': ', toString(count()), ' MAE ', toString(round(avg(abs(error)), 2)), ' covered ', toString(round(100 * avg(covered), 1)))
		FROM (SELECT *, intDiv(horizon + 5, 6) * 6 AS until, arrayJoin(arrayConcat(if(compared, [toString(model)], []), if(served, ['served'], []))) AS name FROM %s.forecast_hour_outcome WHERE horizon <= 48)
		GROUP BY place_kind, until, name ORDER BY place_kind, until, name`) {
		t.Log(line)
	}
	got := w.text(`SELECT toString(avgIf(abs(error), model = 'diurnal_anomaly') < 0.95 * avgIf(abs(error), model = 'persistence')) FROM %s.forecast_hour_outcome WHERE compared AND horizon <= 48`)
	if got[0] != "1" {
		t.Error("the error of the model is not 5 % below that of persistence")
	}
	if got := w.text("SELECT toString(abs(avg(covered) - 0.8) <= 0.03) FROM %s.forecast_hour_outcome WHERE served AND horizon <= 48"); got[0] != "1" {
		t.Error("the interval does not cover 80 ± 3 %")
	}
	if bad := w.text("SELECT formatRow('CSV', *) FROM %s.forecast_hour FINAL WHERE horizon > 0 AND NOT (0 < p10 AND p10 <= p50 AND p50 <= p90) LIMIT 3"); len(bad) > 0 {
		t.Errorf("percentiles are not in order: %v", bad)
	}
	if got := w.text("SELECT toString(max(n)) FROM (SELECT sum(served) AS n FROM %s.forecast_hour FINAL WHERE horizon > 0 GROUP BY place_kind, place, base, horizon)"); got[0] != "1" {
		t.Errorf("%s models served for one hour, want 1", got[0])
	}
}
