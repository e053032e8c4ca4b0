package wiring

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/cmd/vayu/settings"
	"vayu/ingest/runner"
	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/leader"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// dataGovCSV is a file of data.gov.in with one reading, of 20 November 2026 at 10:00.
const dataGovCSV = `country,state,city,station,last_update,latitude,longitude,pollutant_id,pollutant_min,pollutant_max,pollutant_avg
India,Delhi,Delhi,"Anand Vihar, Delhi - DPCC",20-11-2026 10:00:00,28.647622,77.315809,PM10,80,120,99
`

// A watched folder is read once. If an instance has lost the lease before the write,
// the next leader reads the file again, also in the same process.
func TestNextLeaderStoresFetchedReadings(t *testing.T) {
	t.Parallel()
	db := columnstoretest.Start(t, func(*columnstore.Config) {})
	cfg := settings.Defaults()
	cfg.Data, cfg.Roles, cfg.Sources, cfg.Source.File.Folder = t.TempDir(), []string{settings.RoleIngest}, []string{"file"}, t.TempDir()
	path, old := filepath.Join(cfg.Source.File.Folder, "a.csv"), time.Now().Add(-time.Hour)
	if err := os.WriteFile(path, []byte(dataGovCSV), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	a, err := newAir(cfg, sqlstoretest.SQLite(t), db, nil, slog.New(slog.DiscardHandler), reg)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	lead := func(fence leader.Fence, until string, so func() bool) {
		t.Helper()
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.collect(ctx, fence) }()
		fixture.Eventually(t, until, so)
		end()
		if err := <-ended; err != nil {
			t.Errorf("collect ended with %v", err)
		}
	}
	stored := func() (rows uint64) {
		if err := db.Conn().QueryRow(t.Context(), "SELECT count() FROM vayu.reading").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	lead(func(context.Context) error { return leader.ErrNotLeader }, "what was fetched could not be stored", func() bool {
		return fixture.MetricValue(t, reg, "vayu_source_runs_total", "source", "file", "outcome", "store_failed") > 0
	})
	if status := runner.StatusOf(reg)["file"]; status.Outcome != "" {
		t.Errorf("a source that runs on another instance has the outcome %q", status.Outcome)
	}
	if n := stored(); n != 0 {
		t.Fatalf("%d readings were stored by an instance that had lost the leader lease", n)
	}
	lead(func(context.Context) error { return nil }, "the next leader stores it", func() bool { return stored() == 1 })
}
