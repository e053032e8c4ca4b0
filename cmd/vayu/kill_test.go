//go:build integration

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeReadings writes a year of hourly readings of some stations, the same each time.
func writeReadings(t *testing.T, stations int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(f)
	_, _ = fmt.Fprintln(out, "city;site_name;site;state;query_name;to_date;to_time;from_date;from_time;PM2.5;PM10;NO2;SO2;CO;Ozone")
	begin := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	for s := range stations {
		for h := range 8760 {
			from, to := begin.Add(time.Duration(h)*time.Hour), begin.Add(time.Duration(h+1)*time.Hour)
			_, _ = fmt.Fprintf(out, "Pune;Made %d, Pune - TEST;site_%d;Maharashtra;made;%s;%s;%s;%s;%d.5;%d;%d.25;%d;%d.75;%d\n", s, s,
				to.Format("02-Jan-2006"), to.Format("15:04"), from.Format("02-Jan-2006"), from.Format("15:04"),
				(h*7+s)%200, (h*11+s)%300, (h*5+s)%90, (h*3+s)%40, h%3, h%120)
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// contents is a digest of the result of an import.
const contents = `SELECT (SELECT tuple(count(), uniqExact(station), sum(cityHash64(station, parameter, at, value))) FROM vayu.reading FINAL),
	(SELECT tuple(count(), sum(cityHash64(toString(tuple(* EXCEPT computed_at))))) FROM vayu.station_hour FINAL),
	(SELECT tuple(count(), sum(cityHash64(toString(tuple(* EXCEPT computed_at))))) FROM vayu.city_day FINAL)`

func tables(t *testing.T, data string) string {
	t.Helper()
	out, err := vayu(t, data, "sql", "--format", "csv", contents)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// An import that was killed and run again has the result of an undisturbed one.
func TestIntegrationKilledImportLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	file := writeReadings(t, 20)
	calm := t.TempDir()
	if out, err := vayu(t, calm, "import", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := tables(t, calm)

	data := t.TempDir()
	for kills := range 3 {
		cmd := exec.Command(binary(t), "import", "--data", data, "--engine-port", "0", file)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = cmd.Wait()
		}()
		if awaitProgress(t, data, kills, ended) {
			_ = cmd.Process.Kill()
		}
		<-ended
	}
	out, err := vayu(t, data, "import", file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := tables(t, data); got != want {
		t.Errorf("after three kills:\n%s\nundisturbed:\n%s\nthe last import printed:\n%s", got, want, out)
	}
}

// awaitProgress waits until an import has recorded a new position; false when it ended
// before.
func awaitProgress(t *testing.T, data string, kills int, ended <-chan struct{}) bool {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	before := progressText(data)
	deadline := time.After(patience)
	for {
		select {
		case <-ended:
			return false
		case <-deadline:
			t.Fatalf("kill %d: the import makes no progress", kills)
		case <-tick.C:
			if now := progressText(data); now != "" && now != before {
				return true
			}
		}
	}
}

// progressText returns the progress file of the import.
func progressText(data string) string {
	files, _ := filepath.Glob(filepath.Join(data, "import", "*.json"))
	var all strings.Builder
	for _, f := range files {
		text, _ := os.ReadFile(f)
		all.Write(text)
	}
	return all.String()
}
