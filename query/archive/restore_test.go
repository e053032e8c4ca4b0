package archive_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/query/archive"
	"vayu/schema"
	"vayu/schema/migrations/clickhouse"
)

// oneNode runs the statements for a cluster on its only node, without ON CLUSTER, which needs Keeper. After some INSERTs
// it fails.
type oneNode struct {
	driver.Conn

	inserts int
}

func (c *oneNode) Exec(ctx context.Context, query string, args ...any) error {
	return c.Conn.Exec(ctx, strings.ReplaceAll(query, " ON CLUSTER `"+columnstoretest.ClusterName+"`", ""), args...)
}

func (c *oneNode) PrepareBatch(ctx context.Context, query string, o ...driver.PrepareBatchOption) (driver.Batch, error) {
	if c.inserts--; c.inserts < 0 {
		return nil, errKilled
	}
	return c.Conn.PrepareBatch(ctx, query, o...)
}

// TestFailedRestoreEmptiesTheCluster fails in the middle. TRUNCATE of a distributed table would leave the rows.
func TestFailedRestoreEmptiesTheCluster(t *testing.T) {
	t.Parallel()
	w := full(t)
	place := archive.NewFolder(t.TempDir())
	w.mustArchive(place)
	cluster := columnstoretest.Cluster(t, clickhouse.Files, clickhouse.Values())
	to := &fixture{t: t, conn: cluster.Conn(), database: "vayu"}
	options := archive.RestoreOptions{World: schema.Live, Tables: migration.Params{Database: "vayu", Cluster: columnstoretest.ClusterName}, Now: now}
	before := to.contents()
	if _, err := archive.Restore(t.Context(), &oneNode{to.conn, 12}, place, options); !errors.Is(err, errKilled) {
		t.Fatalf("error %v, want %v", err, errKilled)
	}
	if diff := cmp.Diff(before, to.contents()); diff != "" {
		t.Errorf("tables (-before +after the failure):\n%s", diff)
	}
	if _, err := archive.Restore(t.Context(), &oneNode{to.conn, 1000}, place, options); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w.contents(), to.contents()); diff != "" {
		t.Errorf("tables (-original +restored):\n%s", diff)
	}
}

// TestKilledRestoreIsRepeated leaves the tables as a killed process does.
func TestKilledRestoreIsRepeated(t *testing.T) {
	t.Parallel()
	w := full(t)
	place := archive.NewFolder(t.TempDir())
	w.mustArchive(place)
	to := empty(t)
	options := archive.RestoreOptions{World: schema.Live, Tables: migration.Params{Database: to.database}, Now: now}
	ctx, kill := context.WithCancel(t.Context())
	if _, err := archive.Restore(ctx, &dying{to.conn, 12, kill}, place, options); err == nil {
		t.Fatal("a restore whose process was killed succeeded")
	}
	if _, err := archive.Restore(t.Context(), to.conn, place, options); err == nil || !strings.Contains(err.Error(), "--again") {
		t.Errorf("error %v after a kill, want that it names --again", err)
	}
	if err := archive.CheckComplete(t.Context(), to.conn, "other", to.database); err == nil || !strings.Contains(err.Error(), "--again") {
		t.Errorf("error %v of the check after a kill, want that it names --again", err)
	}
	options.Again = true
	to.exec("INSERT INTO air.bulletin (day, name, city, state, until, source, ingested_at) VALUES ('2026-11-01', 'Pune', 'Pune', '', 0, 'cpcb', now64(3) + 5)")
	if _, err := archive.Restore(t.Context(), to.conn, place, options); err == nil || !strings.Contains(err.Error(), "bulletin has 1 rows that something else") {
		t.Errorf("error %v with a row that was stored since, want that it stays", err)
	}
	to.exec("TRUNCATE TABLE air.bulletin")
	if _, err := archive.Restore(t.Context(), to.conn, place, options); err != nil {
		t.Fatal(err)
	}
	if err := archive.CheckComplete(t.Context(), to.conn, to.database); err != nil {
		t.Errorf("error %v of the check after the restore, want none", err)
	}
	if diff := cmp.Diff(w.contents(), to.contents()); diff != "" {
		t.Errorf("tables (-original +restored):\n%s", diff)
	}
	if _, err := archive.Restore(t.Context(), to.conn, place, options); err == nil || !strings.Contains(err.Error(), "empty installation only") {
		t.Errorf("error %v of --again without a killed restore, want that the tables have rows", err)
	}
}

// dying is the connection of a process that is killed after some INSERTs: it does not clean up.
type dying struct {
	driver.Conn

	inserts int
	kill    func()
}

func (c *dying) PrepareBatch(ctx context.Context, query string, o ...driver.PrepareBatchOption) (driver.Batch, error) {
	if c.inserts--; c.inserts < 0 {
		c.kill()
		return nil, errKilled
	}
	return c.Conn.PrepareBatch(ctx, query, o...)
}

func (c *dying) Exec(ctx context.Context, query string, args ...any) error {
	if c.inserts < 0 {
		return errKilled
	}
	return c.Conn.Exec(ctx, query, args...)
}

// TestExpiredMonthsAreNotRestored restores into an installation whose retention is shorter than the archive.
func TestExpiredMonthsAreNotRestored(t *testing.T) {
	t.Parallel()
	w := full(t)
	place := archive.NewFolder(t.TempDir())
	m := w.mustArchive(place).Manifest
	to := empty(t)
	to.exec("ALTER TABLE air.reading MODIFY TTL at + toIntervalDay(10000)")
	var skipped []string
	_, err := archive.Restore(t.Context(), to.conn, place, archive.RestoreOptions{
		World: schema.Live, Tables: migration.Params{Database: to.database}, Now: time.Date(2026, 10, 15, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 10000),
		Progress: func(f archive.File, expired bool) {
			if expired {
				skipped = append(skipped, f.Month)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2026-09"}, skipped); diff != "" {
		t.Errorf("skipped months (-want +got):\n%s", diff)
	}
	var got, want uint64
	for month, rows := range months(m, "reading") {
		if month > "2026-09" {
			want += rows
		}
	}
	if err := to.conn.QueryRow(columnstore.Final(t.Context()), "SELECT count() FROM "+to.database+".reading").Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("%d readings, want %d", got, want)
	}
}
