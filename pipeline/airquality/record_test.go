package airquality

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
)

// TestRollupRecordIsAcknowledged: queries detect a roll-up by its record, so a
// cluster must not acknowledge a record that one node has only queued.
func TestRollupRecordIsAcknowledged(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station("a", "Delhi", "Delhi")
	conn, inserts := columnstoretest.RecordInserts(t)
	rollup, err := New(Config{Conn: conn, Tables: migration.Params{Database: w.name}, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	w.readings(readingsOf("a", randomSeries(1, 3))...)
	if result, err := rollup.Increment(t.Context()); err != nil || result.Stations != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	inserts.Check(t, "rollup") // figures are computed by INSERT … SELECT, whose settings stand in their text
	if rows := w.text("SELECT toString(stations) FROM %s.rollup"); len(rows) != 1 || rows[0] != "1" {
		t.Errorf("the log of roll-ups has %q", rows)
	}
}
