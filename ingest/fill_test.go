package ingest_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/ingest"
	"vayu/ingest/source/simulator"
	"vayu/schema"
)

// The first fill of the sandbox, with everything real but its length.
func TestFirstFillStoresEveryReadingOnce(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	src, err := simulator.DefaultConfig().New(simulator.Name, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	passed := make(chan schema.Changes, 10)
	onChange := func(_ context.Context, c schema.Changes) error { passed <- c; return nil }
	runner, err := ingest.NewRunner(ingest.NewLoader(conn, name), onChange, ingest.NewMetrics(prometheus.NewRegistry()),
		slog.New(slog.DiscardHandler), ingest.Feed{Name: simulator.Name, Source: src, Schedule: "@every 24h", History: 12 * day})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- runner.Run(ctx) }()
	slices := []schema.Changes{<-passed, <-passed, <-passed} // 36 hours, 7 days, the rest
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
	whole, err := ingest.Try(t.Context(), src, ingest.Window{From: first.Add(-time.Second), To: last})
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
	newest, middle, oldest := slices[0].Spans(id), slices[1].Spans(id), slices[2].Spans(id)
	if !newest[0].To.Equal(last) || newest[0].From.Before(last.Add(-36*time.Hour)) {
		t.Errorf("the first slice holds %v, want the last 36 hours", newest)
	}
	if !middle[0].To.Before(newest[0].From) || !oldest[0].To.Before(middle[0].From) {
		t.Errorf("slices are not newest first: %v, %v, %v", newest, middle, oldest)
	}
	var stored schema.Station
	var at time.Time
	if err := conn.QueryRow(t.Context(), "SELECT id, first_seen FROM "+name+".station FINAL WHERE id = '"+id+"'").Scan(&stored.ID, &at); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole.Stations[0].FirstSeen, at.UTC()); diff != "" {
		t.Errorf("first seen (-want +got):\n%s", diff)
	}
}
