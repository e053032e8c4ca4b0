package quality_test

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vayu/internal/testing/realdata"
	"vayu/pipeline/airquality/quality"
	"vayu/schema"
)

// caaqmColumns are the parameters of the columns of caaqm15's files.
var caaqmColumns = map[string]string{"PM25": "pm25", "PM10": "pm10", "NO": "no", "NO2": "no2", "NOx": "nox", "Ozone": "o3", "SO2": "so2"}

// caaqm reads the 15-minute readings of one station up to the end of the quarter. A
// figure stands at the beginning of its interval.
func caaqm(tb testing.TB, file, station string, into *readings) {
	tb.Helper()
	f, err := os.Open(realdata.Path(tb, "caaqm15/"+file))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	lines := csv.NewReader(z)
	lines.ReuseRecord = true
	head, err := lines.Read()
	if err != nil {
		tb.Fatal(err)
	}
	columns, dates := make([]string, len(head)), slices.Index(head, "dates")
	for i, name := range head {
		columns[i] = caaqmColumns[name]
	}
	for {
		line, err := lines.Read()
		if err == io.EOF { //nolint:errorlint // as package csv documents it
			return
		}
		if err != nil {
			tb.Fatal(err)
		}
		began, err := time.ParseInLocation(time.DateTime, line[dates], schema.India)
		if err != nil {
			began, err = time.ParseInLocation("02-01-2006 15:04", line[dates], schema.India)
		}
		if err != nil {
			tb.Fatal(err)
		}
		if !began.Before(quarterTo) {
			continue
		}
		for i, text := range line {
			if columns[i] == "" || slices.Contains([]string{"", "NA", "None"}, text) {
				continue
			}
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				tb.Fatal(err)
			}
			into.add(station, columns[i], began.Add(15*time.Minute).UTC(), 15, value)
		}
	}
}

// quarter loads all stations of caaqm15 and returns their ids.
func (w *fixture) quarter() []string {
	w.Helper()
	list, err := os.Open(realdata.Path(w, "caaqm15/stations.csv"))
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = list.Close() }()
	lines, err := csv.NewReader(list).ReadAll()
	if err != nil {
		w.Fatal(err)
	}
	var stations []string
	for _, line := range lines[1:] {
		var r readings
		station := strings.TrimSuffix(line[0], "-2020.csv.gz")
		caaqm(w, line[0], station, &r)
		w.store(&r)
		stations = append(stations, station)
	}
	return stations
}

// The faults are injected into January and February, so the quarter has clean data
// after them. The shares in docs/quality.md are those of the year, up to 2 January 2021.
var (
	quarterFrom = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	quarterTo   = time.Date(2020, 4, 1, 0, 0, 0, 0, time.UTC)
)

// injections write faults into copies of stations, in January and February, one
// kind per copy. Column truth of table injected marks the faulty readings.
var injections = map[string]string{
	// Single values above their true ones by one to four times the station's 99th
	// percentile.
	"spike": `SELECT concat(station, '~spike') AS station, parameter, at, averaging, cityHash64(station, parameter, at) AS h,
		h %% 500 = 0 AS truth, if(truth, value + (1 + intDiv(h, 500) %% 4) * top, value) AS value
	FROM %[1]s.reading FINAL
	INNER JOIN (SELECT station, parameter, quantile(0.99)(value) AS top FROM %[1]s.reading FINAL WHERE source = 'test' GROUP BY station, parameter) AS tops USING (station, parameter)
	WHERE source = 'test' AND at < '2020-03-01' AND parameter IN ('pm25', 'pm10', 'no2', 'o3', 'so2')`,
	// On one day of ten a value repeats for eight hours.
	"flat": `SELECT concat(station, '~flat') AS station, parameter, at, averaging, cityHash64(station, parameter, toDate(at)) AS h,
		h %% 10 = 0 AND toHour(at) BETWEEN intDiv(h, 10) %% 16 AND intDiv(h, 10) %% 16 + 7 AS truth,
		if(truth, first_value(value) OVER (PARTITION BY station, parameter, toDate(at), truth ORDER BY at), value) AS value
	FROM %[1]s.reading FINAL
	WHERE source = 'test' AND at < '2020-03-01' AND parameter IN ('pm25', 'pm10', 'no2', 'o3', 'so2')`,
	// On one day of ten NO2, or NO2 and NO, are in ppb.
	"units": `SELECT concat(station, '~units') AS station, parameter, at, averaging, cityHash64(station, toDate(at + 19799)) AS h,
		h %% 10 = 0 AND (parameter = 'no2' OR parameter = 'no' AND intDiv(h, 10) %% 2 = 0) AS truth,
		if(truth, value / if(parameter = 'no', 1.2274, 1.8818), value) AS value
	FROM %[1]s.reading FINAL
	WHERE source = 'test' AND at < '2020-03-01' AND parameter IN ('no', 'no2', 'nox')`,
}

// TestInjectedFaultsAreFound checks the tests on a quarter of 15 stations: what they
// find in the clean data, and which injected faults they find.
func TestInjectedFaultsAreFound(t *testing.T) {
	t.Parallel()
	w := newFixture(t, quality.Settings{})
	stations := w.quarter()
	begin := time.Now()
	w.run(quarterFrom, quarterTo, stations...)
	t.Logf("%d readings of a quarter were tested in %s", w.count("SELECT count() FROM %s.reading"), time.Since(begin).Round(time.Millisecond))
	w.logRows("clean data", `
		SELECT concat(test, ' ', toString(flag), ': ', toString(count()), ' readings, ', toString(round(100 * count() / (SELECT count() FROM %[1]s.reading), 3)), ' %%; ', toString(sumMap(map(parameter, 1))))
		FROM %[1]s.reading_quality FINAL GROUP BY test, flag ORDER BY test, flag`)
	w.exec("CREATE TABLE %s.injected (station String, parameter String, at DateTime('UTC'), truth UInt8) ENGINE = MergeTree ORDER BY (station, parameter, at)")
	var copies []string
	for _, fault := range slices.Sorted(maps.Keys(injections)) {
		made := fmt.Sprintf(injections[fault], w.name)
		w.exec("INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source) SELECT station, parameter, at, value, 'concentration', averaging, 'injected' FROM (" +
			strings.ReplaceAll(made, "%", "%%") + ")")
		w.exec("INSERT INTO %s.injected SELECT station, parameter, at, truth FROM (" + strings.ReplaceAll(made, "%", "%%") + ")")
		for _, s := range stations {
			copies = append(copies, s+"~"+fault)
		}
	}
	w.run(quarterFrom, time.Date(2020, 3, 2, 0, 0, 0, 0, time.UTC), copies...)
	w.logRows("units of", `SELECT concat(station, ': documented ', toString(sum(documented)), ', zero_celsius ', toString(sum(zero_celsius)),
			', one_unit ', toString(sum(one_unit)), ', neither ', toString(sum(neither)))
		FROM %[1]s.nox_form FINAL WHERE station NOT LIKE '%%~%%' GROUP BY station ORDER BY station`)
	for fault, query := range recalls {
		var injected, found uint64
		if err := w.db.Conn().QueryRow(t.Context(), fmt.Sprintf(query, w.name)).Scan(&injected, &found); err != nil {
			t.Fatal(err)
		}
		t.Logf("recall of %s: %d of %d, %.3f", fault, found, injected, float64(found)/float64(injected))
		if injected < 50 || float64(found) < 0.95*float64(injected) {
			t.Errorf("%s: %d of %d injected faults are found, want 95 %%", fault, found, injected)
		}
	}
}

// recalls count the injected faults and those that a test found. Spikes and
// readings of flat lines count one by one. Units count by day, if the test flags at
// least half of the NO2 readings. Stations without a stable form (85 % of the quarter)
// have no expected units.
var recalls = map[string]string{
	"spike": `SELECT count(), countIf((station, parameter, at) IN (SELECT station, parameter, at FROM %[1]s.reading_quality FINAL WHERE test IN ('spike', 'rate_of_change') AND flag = 'suspect'))
		FROM %[1]s.injected WHERE truth AND station LIKE '%%~spike'`,
	"flat": `SELECT count(), countIf((station, parameter, at) IN (SELECT station, parameter, at FROM %[1]s.reading_quality FINAL WHERE test = 'flat_line'))
		FROM %[1]s.injected WHERE truth AND station LIKE '%%~flat'`,
	"units": `SELECT count(), countIf(share >= 0.5)
		FROM (SELECT station, toDate(at + 19799) AS day, avg((station, parameter, at) IN (SELECT station, parameter, at FROM %[1]s.reading_quality FINAL WHERE test = 'nox_sum')) AS share
			FROM %[1]s.injected
			WHERE truth AND parameter = 'no2' AND (replaceOne(station, '~units', ''), at) IN (SELECT station, at FROM %[1]s.reading FINAL WHERE parameter = 'nox' AND value > 5)
				AND replaceOne(station, '~units', '') IN (SELECT station FROM %[1]s.nox_form FINAL GROUP BY station
					HAVING greatest(sum(documented), sum(zero_celsius), sum(one_unit)) >= 0.85 * (sum(documented) + sum(zero_celsius) + sum(one_unit) + sum(neither)))
			GROUP BY station, day)`,
}

func (w *fixture) logRows(title, query string) {
	w.Helper()
	rows, err := w.db.Conn().Query(w.Context(), fmt.Sprintf(query, w.name))
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			w.Fatal(err)
		}
		w.Logf("%s: %s", title, line)
	}
	if err := rows.Err(); err != nil {
		w.Fatal(err)
	}
}
