//go:build integration

package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/ingest/imports"
	"vayu/ingest/journal"
	"vayu/ingest/loader"
	"vayu/ingest/runner"
	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/testing/realdata"
	"vayu/schema"
)

// hourKey is a parameter at a station in an hour.
type hourKey struct {
	station, parameter string
	at                 int64
}

type plainMean struct {
	mean  float64
	count uint16
}

// proofStations is how many of the 15 stations are compared, unless VAYU_TEST_STATIONS
// is set. All take six minutes of both cores (make proof).
const proofStations = 3

// The means, maxima, sub-indices and AQI of 2020 equal those of
// testdata/caaqm15/independent.py.
func TestIntegrationFiguresEqualAnIndependentComputation(t *testing.T) {
	t.Parallel()
	wanted := proofStations
	if text := os.Getenv("VAYU_TEST_STATIONS"); text != "" {
		var err error
		if wanted, err = strconv.Atoi(text); err != nil {
			t.Fatalf("VAYU_TEST_STATIONS: %v", err)
		}
	}
	folder := someStations(t, realdata.Path(t, "caaqm15"), wanted)
	db := columnstoretest.Start(t, func(*columnstore.Config) {})
	stations := importQuarters(t, db, folder)
	hours, rows := storedHours(t, db), storedRows(t, db)

	python := exec.CommandContext(t.Context(), "python3", "testdata/caaqm15/independent.py", folder)
	python.Stderr = os.Stderr
	out, err := python.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := python.Start(); err != nil {
		t.Fatal(err)
	}
	compared, wrong := 0, 0
	differ := func(format string, args ...any) {
		if wrong++; wrong <= 20 {
			t.Errorf(format, args...)
		}
	}
	for lines := bufio.NewScanner(out); lines.Scan(); compared++ {
		cells := strings.Fields(lines.Text())
		station := stations[cells[1]]
		if cells[0] == "r" {
			key := station + " " + cells[2]
			if want := strings.Join(cells[3:], " "); rows[key] != want {
				differ("%s: rolling figures are %q, want %q", key, rows[key], want)
			}
			delete(rows, key)
			continue
		}
		at, _ := strconv.ParseInt(cells[3], 10, 64)
		key := hourKey{station, cells[2], at}
		got, ok := hours[key]
		delete(hours, key)
		numerator, _ := strconv.ParseFloat(cells[5], 64)
		denominator, _ := strconv.ParseFloat(cells[6], 64)
		if want := numerator / denominator; !ok || fmt.Sprint(got.count) != cells[4] || math.Abs(got.mean-want) > 1e-9*(1+want) {
			differ("%v: mean %v of %d readings (%v), want %v of %s", key, got.mean, got.count, ok, want, cells[4])
		}
	}
	if err := python.Wait(); err != nil {
		t.Fatal(err)
	}
	switch {
	case wrong > 0:
		t.Errorf("wrong = %v, want 0", wrong)
	case len(hours) > 0:
		t.Errorf("len(hours) = %v, want 0", len(hours))
	case len(rows) > 0:
		t.Errorf("len(rows) = %v, want 0", len(rows))
	case compared < 50_000*wanted:
		t.Errorf("compared = %v, want at least %v", compared, 50_000*wanted)
	}
	t.Logf("%d figures of %d stations compared", compared, wanted)
}

// someStations makes a folder with the files of so many stations and their list.
func someStations(t *testing.T, all string, wanted int) string {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(all, "stations.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(list), "\n")
	lines = lines[:min(len(lines), wanted+1)]
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "stations.csv"), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		file, _, _ := strings.Cut(line, ",")
		if err := os.Symlink(filepath.Join(all, file), filepath.Join(folder, file)); err != nil && file != "" {
			t.Fatal(err)
		}
	}
	return folder
}

// importQuarters imports the files of a folder and returns the id of the station
// of each.
func importQuarters(t *testing.T, db *columnstore.DB, folder string) map[string]string {
	t.Helper()
	if err := tool.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	list, err := os.Open(filepath.Join(folder, "stations.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	table, err := csv.NewReader(list).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	importer := runner.NewImporter(loader.New(db.Conn(), schema.Live.Database()), journal.New(db.Conn(), schema.OpsDatabase, schema.Live), t.TempDir())
	all, err := settings.Defaults().Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	ids, known := make(map[string]string), make(map[string]bool)
	for _, row := range table[1:] {
		if _, err := imports.File(t.Context(), io.Discard, importer, all.Opener("import", time.Now), filepath.Join(folder, row[0])); err != nil {
			t.Fatal(err)
		}
		for _, id := range texts(t, db, "SELECT id FROM vayu.station FINAL") {
			if !known[id] {
				known[id], ids[row[0]] = true, id
			}
		}
	}
	rollup, err := tool.NewRollup(settings.Defaults(), db, schema.Live, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rollup.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	return ids
}

func texts(t *testing.T, db *columnstore.DB, query string) (all []string) {
	t.Helper()
	each(t, db, query, func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		all = append(all, text)
		return err
	})
	return all
}

// each runs a query and calls row for every row.
func each(t *testing.T, db *columnstore.DB, query string, row func(scan func(...any) error) error) {
	t.Helper()
	rows, err := db.Conn().Query(context.Background(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func storedHours(t *testing.T, db *columnstore.DB) map[hourKey]plainMean {
	t.Helper()
	hours := make(map[hourKey]plainMean)
	each(t, db, `SELECT station, parameter, toInt64(toUnixTimestamp(at)), assumeNotNull(mean), count
		FROM vayu.station_parameter_hour FINAL WHERE count > 0`, func(scan func(...any) error) error {
		var key hourKey
		var m plainMean
		err := scan(&key.station, &key.parameter, &key.at, &m.mean, &m.count)
		hours[key] = m
		return err
	})
	return hours
}

// storedRows returns the rolling figures by station and hour, in the form of
// independent.py.
func storedRows(t *testing.T, db *columnstore.DB) map[string]string {
	t.Helper()
	var columns []string
	for _, p := range []string{"pm25", "pm10", "no2", "so2", "o3"} {
		columns = append(columns, fmt.Sprintf("ifNull(toString(toInt64(round(%s * 10000))), '-'), ifNull(toString(%[1]s_index), '-')", p))
	}
	rows := make(map[string]string)
	query := "SELECT concat(station, ' ', toString(toUnixTimestamp(at))), concatWithSeparator(' ', " + strings.Join(columns, ", ") +
		", ifNull(toString(aqi), '-')) FROM vayu.station_hour FINAL"
	each(t, db, query, func(scan func(...any) error) error {
		var key, figures string
		err := scan(&key, &figures)
		rows[key] = figures
		return err
	})
	return rows
}
