package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/embedded"
	"vayu/internal/config"
	"vayu/internal/sqlstore/sqlstoretest"
)

// emptyServer starts an unused ClickHouse, and returns the DSN for other processes.
func emptyServer(t *testing.T) (own *columnstore.DB, dsn string) {
	t.Helper()
	data := t.TempDir()
	own = columnstoretest.Start(t, func(c *columnstore.Config) { c.Data = data })
	address, password, err := embedded.Access(data)
	if err != nil {
		t.Fatal(err)
	}
	return own, "http://default:" + password + "@" + address + "/"
}

// connectServer connects to a server as an instance does.
func connectServer(t *testing.T, dsn string, storage columnstore.Storage) *columnstore.DB {
	t.Helper()
	db, err := columnstore.Open(columnstore.Config{DSN: config.DSN(dsn), Connections: 2, Storage: storage}, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Conn().Close() })
	return db
}

// logBuffer is a log that is safe for concurrent use, and signals each line.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	came chan struct{}
}

func (j *logBuffer) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	select {
	case j.came <- struct{}{}:
	default:
	}
	return j.text.Write(p)
}

func (j *logBuffer) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// An instance without the role ingest and a command only check the tables, and report
// what is missing.
func TestOnlyIngestMigratesTables(t *testing.T) {
	t.Parallel()
	own, dsn := emptyServer(t)
	if !own.OwnsEngine() {
		t.Error("the process that started the engine does not own it")
	}
	const advice = `start an instance with the role ingest, or run "vayu migrate"`
	query := []string{"sql", "--clickhouse", dsn, "--data", t.TempDir(), "SELECT 1"}
	if out, err := command(t.Context(), query...); err == nil || !strings.Contains(err.Error(), advice) {
		t.Errorf("a command on a server without tables: %v %s", err, out)
	}
	output := &logBuffer{came: make(chan struct{}, 1)}
	ended := make(chan error, 1)
	go func() {
		ended <- tool.AwaitTables(t.Context(), connectServer(t, dsn, columnstore.Storage{}), sqlstoretest.SQLite(t), false, slog.New(slog.NewTextHandler(output, nil)))
	}()
	select {
	case <-output.came:
	case err := <-ended:
		t.Fatalf("an instance that only answers did not wait for the tables: %v", err)
	}
	var databases uint64
	if err := own.Conn().QueryRow(t.Context(), "SELECT count() FROM system.databases WHERE name LIKE 'vayu%'").Scan(&databases); err != nil || databases > 0 {
		t.Errorf("checks have created %d databases (%v)", databases, err)
	}
	collects := connectServer(t, dsn, columnstore.Storage{KeepReadings: 1000 * 24 * time.Hour})
	if err := tool.AwaitTables(t.Context(), collects, sqlstoretest.SQLite(t), true, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if text := output.String(); !strings.Contains(text, "waiting for the tables") || !strings.Contains(text, "role ingest") || !strings.Contains(text, "are up to date") {
		t.Errorf("the waiting instance logged\n%s", text)
	}
	if out, err := command(t.Context(), query...); err != nil {
		t.Errorf("a command on a server with tables: %v %s", err, out)
	}
	kept := func() (rule string) {
		t.Helper()
		if err := own.Conn().QueryRow(t.Context(), "SELECT extract(engine_full, 'TTL [^,]*toIntervalDay.([0-9]+)') FROM system.tables WHERE database = 'vayu' AND name = 'reading'").Scan(&rule); err != nil {
			t.Fatal(err)
		}
		return rule
	}
	if got := kept(); got != "1000" {
		t.Errorf("readings are kept for %q days, want those of the collector", got)
	}
	if out, err := command(t.Context(), "migrate", "--clickhouse", dsn, "--data", t.TempDir()); err != nil || !strings.Contains(out, "vayu_sandbox is at version") {
		t.Errorf("vayu migrate: %v %s", err, out)
	}
	if got := kept(); got != "" {
		t.Errorf("readings are kept for %q days after a migration with unlimited retention", got)
	}
}

// Newer tables are a permanent error.
func TestNewerTablesAreAnError(t *testing.T) {
	t.Parallel()
	own, dsn := emptyServer(t)
	if err := tool.Migrate(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	if err := own.Conn().Exec(t.Context(), "INSERT INTO vayu.migration (version, name, checksum) VALUES (9999, '9999_later.sql', 'x')"); err != nil {
		t.Fatal(err)
	}
	for _, collects := range []bool{true, false} {
		if err := tool.AwaitTables(t.Context(), connectServer(t, dsn, columnstore.Storage{}), sqlstoretest.SQLite(t), collects, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "9999_later.sql") {
			t.Errorf("role ingest %v: got %v, want that the tables are newer", collects, err)
		}
	}
}

// An instance waits for an unavailable server until it is stopped.
func TestUnavailableServerIsAwaited(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer stop()
	err := tool.AwaitTables(ctx, connectServer(t, "http://default@127.0.0.1:1/", columnstore.Storage{}), sqlstoretest.SQLite(t), true, slog.New(slog.DiscardHandler))
	if ctx.Err() == nil {
		t.Errorf("got %v before the stop", err)
	}
	if err == nil {
		t.Error("got no error after the stop")
	}
}

// The log has one line for each store, without the password.
func TestStoresWithoutTLSAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		clickhouse, state config.DSN
		lines             int
	}{
		{"without TLS", "clickhouse://u:p4ss@ch:9000/", "postgres://u:p4ss@pg/vayu", 2},
		{"with TLS", "clickhouse://u:p4ss@ch:9440/?secure=true", "postgres://u:p4ss@pg/vayu?sslmode=require", 0},
		{"no servers", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var output bytes.Buffer
			settings.Config{ClickHouse: c.clickhouse, State: c.state}.WarnPlain(slog.New(slog.NewTextHandler(&output, nil)))
			if text := output.String(); strings.Count(text, "\n") != c.lines || strings.Contains(text, "p4ss") {
				t.Errorf("got %q, want %d lines without the password", text, c.lines)
			}
		})
	}
}

func TestMain(m *testing.M) { columnstoretest.Main(m) }
