package loader_test

import (
	"context"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/ingest"
	"vayu/ingest/loader"
	"vayu/ingest/runner"
	"vayu/ingest/source/simulator"
	"vayu/schema/air"
)

// TestFirstFillStoresEveryReadingOnce runs a first fill of the sandbox with a real
// store and a shorter history.
func TestFirstFillStoresEveryReadingOnce(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	src, err := simulator.DefaultConfig().New(simulator.Name, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	passed := make(chan time.Time, 10) // the oldest reading after each slice
	onChange := func(ctx context.Context, _ bool) {
		var oldest time.Time
		if err := conn.QueryRow(ctx, "SELECT min(at) FROM "+name+".reading").Scan(&oldest); err != nil {
			t.Error(err)
		}
		passed <- oldest
	}
	r, err := runner.New(runner.Config{
		Archive: loader.New(conn, name), Journal: newJournal(t), OnChange: onChange,
		Metrics: runner.NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler),
	}, runner.Feed{Name: simulator.Name, Source: src, Schedule: "@every 24h", History: 12 * day})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	slices := []time.Time{<-passed, <-passed, <-passed} // 36 hours, 7 days, the rest
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}

	var first, last time.Time
	if err := conn.QueryRow(t.Context(), "SELECT min(at), max(at) FROM "+name+".reading").Scan(&first, &last); err != nil {
		t.Fatal(err)
	}
	if length := last.Sub(first); length != 12*day-time.Hour {
		t.Errorf("%s of hours, want 12 days", length)
	}
	whole, err := runner.FetchSample(t.Context(), src, ingest.Window{From: first.Add(-time.Second), To: last}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	if got := count(t, conn, "SELECT count() FROM "+name+".reading"); got != len(whole.Readings) {
		t.Errorf("%d rows stored, want %d", got, len(whole.Readings))
	}
	if got := count(t, conn, "SELECT count() FROM "+name+".station FINAL"); got != len(whole.Stations) {
		t.Errorf("%d stations stored, want %d", got, len(whole.Stations))
	}
	id := whole.Stations[0].ID
	if slices[0].Before(last.Add(-36 * time.Hour)) {
		t.Errorf("the first slice begins at %v, want the last 36 hours before %v", slices[0], last)
	}
	if !slices[1].Before(slices[0]) || !slices[2].Before(slices[1]) {
		t.Errorf("slices begin at %v, want each before the last", slices)
	}
	var stored air.Station
	var at time.Time
	if err := conn.QueryRow(t.Context(), "SELECT id, first_seen FROM "+name+".station FINAL WHERE id = '"+id+"'").Scan(&stored.ID, &at); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole.Stations[0].FirstSeen, at.UTC()); diff != "" {
		t.Errorf("first seen (-want +got):\n%s", diff)
	}
}
