package collect

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/ingest"
	"vayu/ingest/backfill"
	"vayu/ingest/progress"
	"vayu/ingest/runner"
	"vayu/ingest/source"
	"vayu/ingest/source/described"
	"vayu/internal/leader"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// archive is an archive in memory.
type archive struct {
	mu     sync.Mutex
	stored int
}

func (a *archive) Load(_ context.Context, b *ingest.Batch) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stored += b.Rows()
	return nil
}

func (*archive) Coverage(context.Context, string, time.Time) (first, last time.Time, err error) {
	return
}

func (a *archive) rows() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stored
}

// noJournal records nothing.
type noJournal struct{}

func (noJournal) Record(context.Context, []ingest.Run) error { return nil }

// world returns a world with sources, whose feeds the function feed builds.
func world(db *sqlstore.DB, a *archive, feed func(name string) (runner.Feed, error), sources ...string) World {
	return World{
		World: schema.Live, Sources: sources, Feed: feed, Stream: func(string) (*described.Description, error) { return nil, nil },
		Knows: func(string) bool { return true }, Archive: a, Journal: noJournal{},
		Progress: progress.New(db, "live", time.Now), Backfills: backfill.New(db, "live", time.Now),
		RollUp: func(context.Context) error { return nil }, Stored: func(context.Context) (Stored, error) { return Stored{}, nil },
	}
}

func newCollector(t *testing.T, db *sqlstore.DB, reg *prometheus.Registry, w World) *Collector {
	t.Helper()
	c, err := New(Config{DB: db, Worlds: []World{w}, Metrics: runner.NewMetrics(reg), Backfill: backfill.NewMetrics(reg), Registry: reg, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// dataGovCSV is a file of data.gov.in with one reading, of 20 November 2025 at 10:00.
const dataGovCSV = `country,state,city,station,last_update,latitude,longitude,pollutant_id,pollutant_min,pollutant_max,pollutant_avg
India,Delhi,Delhi,"Anand Vihar, Delhi - DPCC",20-11-2025 10:00:00,28.647622,77.315809,PM10,80,120,99
`

// A watched folder is read once. If an instance has lost the lease before the write,
// the next one reads the file again, also in the same process.
func TestNextTermStoresFetchedReadings(t *testing.T) {
	t.Parallel()
	config := source.DefaultConfig()
	config.File.Folder = t.TempDir()
	sources, err := source.Open(config, t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	path, old := filepath.Join(config.File.Folder, "a.csv"), time.Now().Add(-time.Hour)
	if err := os.WriteFile(path, []byte(dataGovCSV), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	a, reg := new(archive), prometheus.NewRegistry()
	c := newCollector(t, sqlstoretest.SQLite(t), reg, world(sqlstoretest.SQLite(t), a, func(name string) (runner.Feed, error) {
		feed, err := sources.Feed(schema.Live, name, time.Now)
		feed.Schedule = "@every 1s"
		return feed, err
	}, "file"))
	jobs, err := c.jobs(t.Context())
	if err != nil || len(jobs) != 1 || jobs[0].Name != "live/file" {
		t.Fatalf("jobs %+v, %v", jobs, err)
	}
	term := func(fence leader.Fence, until string, so func() bool) {
		t.Helper()
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- jobs[0].Run(ctx, fence, nil) }()
		fixture.Eventually(t, until, so)
		end()
		if err := <-ended; err != nil {
			t.Errorf("the term ended with %v", err)
		}
	}
	term(func(context.Context) error { return leader.ErrNotLeader }, "what was fetched could not be stored", func() bool {
		return fixture.MetricValue(t, reg, "vayu_source_runs_total", "source", "file", "outcome", "store_failed") > 0
	})
	if is := runner.StatusOf(reg)["file"]; is.Outcome != "" {
		t.Errorf("a source that runs on another instance has the outcome %q", is.Outcome)
	}
	if n := a.rows(); n != 0 {
		t.Fatalf("%d readings were stored by an instance that had lost the lease", n)
	}
	term(func(context.Context) error { return nil }, "the next term stores it", func() bool { return a.rows() == 1 })
}

func TestFaultsOfAllSourcesAreReported(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	one, two := errors.New("key is missing"), errors.New("url is invalid")
	_, err := New(Config{DB: db, Metrics: runner.NewMetrics(prometheus.NewRegistry()), Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler), Worlds: []World{
		world(db, new(archive), func(name string) (runner.Feed, error) {
			if name == "one" {
				return runner.Feed{}, one
			}
			return runner.Feed{}, two
		}, "one", "two"),
	}})
	if !errors.Is(err, one) || !errors.Is(err, two) {
		t.Errorf("error %v, want both faults", err)
	}
}

// calls counts the fetches of sources.
type calls struct {
	mu      sync.Mutex
	fetches map[string]int
	running map[string]int
	twice   []string
}

// slowSource is a source whose fetch takes some milliseconds.
type slowSource struct {
	name  string
	calls *calls
}

func (s *slowSource) Fetch(ctx context.Context, _ ingest.Window, _ func(*ingest.Batch) error) error {
	s.calls.mu.Lock()
	s.calls.fetches[s.name]++
	if s.calls.running[s.name]++; s.calls.running[s.name] > 1 {
		s.calls.twice = append(s.calls.twice, s.name)
	}
	s.calls.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
	s.calls.mu.Lock()
	s.calls.running[s.name]--
	s.calls.mu.Unlock()
	return ctx.Err()
}

func (c *calls) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fetches[name]
}

// Two instances share the sources of one store. When one stops, the other collects all.
func TestInstancesShareSources(t *testing.T) {
	t.Parallel()
	dsn := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}
	all := &calls{fetches: make(map[string]int), running: make(map[string]int)}
	names := []string{"a", "b", "c", "d"}
	start := func(reg *prometheus.Registry) (stop func()) {
		db := sqlstoretest.Open(t, dsn)
		c := newCollector(t, db, reg, world(db, new(archive), func(name string) (runner.Feed, error) {
			return runner.Feed{Name: name, Source: &slowSource{name, all}, Schedule: "@every 1s"}, nil
		}, names...))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("the collector ended with %v", err)
			}
		}
	}
	led := func(reg *prometheus.Registry) (n float64) {
		for _, name := range names {
			n += fixture.MetricValue(t, reg, "vayu_leader", "name", "source:live/"+name)
		}
		return n
	}
	one, two := prometheus.NewRegistry(), prometheus.NewRegistry()
	stopOne := start(one)
	fixture.Eventually(t, "the first instance collects all sources", func() bool { return led(one) == 4 })
	stopTwo := start(two)
	fixture.Eventually(t, "each instance collects two sources, and one leads the roll-up", func() bool {
		rollUps := fixture.MetricValue(t, one, "vayu_leader", "name", "rollup") + fixture.MetricValue(t, two, "vayu_leader", "name", "rollup")
		return led(one) == 2 && led(two) == 2 && rollUps == 1 // a process without processor loses its leases
	})
	stopOne()
	before := make(map[string]int)
	for _, name := range names {
		before[name] = all.of(name)
	}
	fixture.Eventually(t, "the other instance fetches every source", func() bool {
		for _, name := range names {
			if all.of(name) <= before[name] {
				return false
			}
		}
		return led(two) == 4
	})
	stopTwo()
	if len(all.twice) > 0 {
		t.Errorf("sources were fetched twice at a time: %v", all.twice)
	}
}
