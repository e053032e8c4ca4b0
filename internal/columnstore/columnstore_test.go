package columnstore_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/config"
)

// parentVariable makes the test binary a service with an engine in the given directory, which a test kills.
const parentVariable = "VAYU_TEST_PARENT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentVariable); dir != "" && os.Getenv(columnstoretest.Environment()[0][:len("VAYU_TEST_ENGINE")]) == "" {
		os.Exit(parent(dir))
	}
	columnstoretest.Main(m)
}

// parent runs an engine until it is killed, and prints the engine's process id when it is ready.
func parent(dir string) int {
	cfg := embedded(dir)
	db, err := columnstore.Open(cfg, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	go func() {
		if err := db.Ready(context.Background()); err != nil {
			fmt.Fprintln(os.Stdout, err)
			return
		}
		holder, _ := db.Holder()
		fmt.Fprintln(os.Stdout, holder.PID)
	}()
	if err := db.Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stdout, err)
	}
	return 1
}

func embedded(dir string) columnstore.Config {
	cfg := columnstore.Default()
	cfg.Data, cfg.Port = dir, 0
	cfg.Command, cfg.Environment = []string{os.Args[0]}, columnstoretest.Environment()
	return cfg
}

// own starts an engine for one test.
func own(t *testing.T, cfg columnstore.Config) *columnstore.DB {
	t.Helper()
	columnstoretest.Library(t)
	db, err := columnstore.Open(cfg, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	run(t, db)
	return db
}

// run runs db for the test, and returns when it is ready.
func run(t *testing.T, db *columnstore.DB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- db.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("running the engine: %v", err)
		}
	})
	if err := db.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestTypesRoundTrip(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	name := columnstoretest.Database(t, db)
	conn, ctx := db.Conn(), t.Context()
	if err := conn.Exec(ctx, `CREATE TABLE `+name+`.r (
		station LowCardinality(String), pollutant Enum8('pm25' = 1, 'pm10' = 2), value Nullable(Float64),
		at DateTime('UTC') CODEC(Delta, ZSTD), ingested DateTime64(3, 'UTC'), tags Array(String)
	) ENGINE = ReplacingMergeTree(ingested) ORDER BY (station, pollutant, at)`); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	milli := at.Add(7 * time.Millisecond)
	half := 0.5
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+name+".r")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = batch.Close() }()
	for i, values := range []any{
		[]string{"a", "b"}, []string{"pm25", "pm10"}, []*float64{&half, nil}, []time.Time{at, at}, []time.Time{milli, milli}, [][]string{{"x", "it's"}, {}},
	} {
		if err := batch.Column(i).Append(values); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Station   string    `ch:"station"`
		Pollutant string    `ch:"pollutant"`
		Value     *float64  `ch:"value"`
		At        time.Time `ch:"at"`
		Ingested  time.Time `ch:"ingested"`
		Tags      []string  `ch:"tags"`
	}
	var got []row
	if err := conn.Select(ctx, &got, "SELECT * FROM "+name+".r WHERE station IN {s:Array(String)} AND at >= {from:DateTime} ORDER BY station",
		clickhouse.Named("s", []string{"a", "b", "it's"}), clickhouse.DateNamed("from", at, clickhouse.Seconds)); err != nil {
		t.Fatal(err)
	}
	want := []row{{"a", "pm25", &half, at, milli, []string{"x", "it's"}}, {"b", "pm10", nil, at, milli, []string{}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOpenChecksConfigurationOnly(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]columnstore.Config{
		"opening ClickHouse: the embedded engine needs a data directory":                                {Connections: 1},
		"opening ClickHouse: the embedded engine is a single node; a cluster needs a DSN":               {Data: "x", Cluster: "air", Connections: 1},
		"opening ClickHouse: port: -1 is not a port\nconnections: must be at least 1":                   {Data: "x", Port: -1},
		"opening ClickHouse: clickhouse: parse \"clickhouse://host:x\": invalid port \":x\" after host": {DSN: "clickhouse://host:x", Connections: 1},
	} {
		if _, err := columnstore.Open(cfg, slog.New(slog.DiscardHandler), nil); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	dir := t.TempDir()
	db, err := columnstore.Open(embedded(dir), slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Conn().Close()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("Open left %v, %v in the data directory", entries, err)
	}
}

var _ config.Validator = columnstore.Config{}
