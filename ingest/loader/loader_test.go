package loader_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	"vayu/ingest/loader"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/schema/air"

	"vayu/schema/parameter"
)

func TestStoredReadingsRoundTrip(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	want := []air.Reading{
		concentration(air.PM25, now.Add(-30*time.Minute), 61.25),
		concentration(air.CO, now.Add(-30*time.Minute), 1.13),
		{Parameter: air.O3.Parameter(), At: now.Add(-90 * time.Minute), Value: 28, Kind: air.SubIndex, Averaging: air.Hourly, Flag: air.Stuck},
		{Parameter: air.Pb.Parameter(), At: time.Date(2009, 3, 1, 18, 30, 0, 0, time.UTC), Value: 0.1, Kind: air.Concentration, Averaging: air.Daily, Flag: air.Clipped},
	}
	batch := batchOf(t, "test", station("a"), want...)
	batch.Run = 1_795_163_400_123_456
	if err := loader.New(conn, name).Load(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if n := count(t, conn, fmt.Sprintf("SELECT count() FROM %s.reading WHERE run = %d", name, batch.Run)); n != len(want) {
		t.Errorf("%d readings have the run of the batch, want %d", n, len(want))
	}
	rows, err := conn.Query(t.Context(), "SELECT station, parameter, at, value, kind, averaging, flag, source FROM "+name+".reading FINAL ORDER BY at DESC, parameter != 'pm25'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []air.Reading
	for rows.Next() {
		var r air.Reading
		var id string
		var kind, flag int8
		if err := rows.Scan(&r.Station, &id, &r.At, &r.Value, &kind, &r.Averaging, &flag, &r.Source); err != nil {
			t.Fatal(err)
		}
		r.Parameter, _ = parameter.Parse(id)
		r.Kind, r.Flag, r.At = air.Kind(kind), air.Flag(flag), r.At.UTC()
		got = append(got, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i].Station, want[i].Source = "a", "test"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
}

func TestLoadIsIdempotent(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	b := batchOf(t, "test", station("a"), concentration(air.PM25, now, 50), concentration(air.PM10, now, 90))
	for range 2 {
		if err := l.Load(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if got := count(t, conn, "SELECT count() FROM "+name+".reading FINAL"); got != 2 {
		t.Errorf("%d readings, want 2", got)
	}
	if got := count(t, conn, "SELECT count() FROM "+name+".station FINAL"); got != 1 {
		t.Errorf("%d stations, want 1", got)
	}
	corrected := batchOf(t, "test", station("a"), concentration(air.PM25, now, 55))
	if err := l.Load(t.Context(), corrected); err != nil {
		t.Fatal(err)
	}
	if err := l.Load(t.Context(), b); err != nil { // an equal block must not be skipped as a duplicate
		t.Fatal(err)
	}
	if got := count(t, conn, "SELECT toUInt64(value) FROM "+name+".reading FINAL WHERE parameter = 'pm25'"); got != 50 {
		t.Errorf("value %d, want the one stored last, 50", got)
	}
}

func TestFileOverManyMonthsIsOneInsert(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	var readings []air.Reading
	for month := range 180 {
		readings = append(readings, concentration(air.NO2, time.Date(2008, time.Month(1+month), 5, 18, 30, 0, 0, time.UTC), 40))
	}
	if err := loader.New(conn, name).Load(t.Context(), batchOf(t, "test", station("a"), readings...)); err != nil {
		t.Fatal(err)
	}
	if got := count(t, conn, "SELECT count() FROM "+name+".reading"); got != 180 {
		t.Errorf("%d readings, want 180", got)
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	first, last, err := l.Coverage(t.Context(), "test", now.Add(-time.Hour))
	if err != nil || !first.IsZero() || !last.IsZero() {
		t.Errorf("Coverage of nothing = %v, %v, %v", first, last, err)
	}
	old, recent := now.Add(-100*time.Hour), now.Add(-10*time.Hour)
	b := batchOf(t, "test", station("a"), concentration(air.PM25, old, 1), concentration(air.PM25, recent, 1), concentration(air.PM25, now, 1))
	if err := l.Load(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	first, last, err = l.Coverage(t.Context(), "test", recent.Add(-time.Second))
	if err != nil || !first.Equal(recent) || !last.Equal(now) {
		t.Errorf("Coverage = %v, %v, %v, want %v and %v", first, last, err, recent, now)
	}
	if first, _, err = l.Coverage(t.Context(), "other", old); err != nil || !first.IsZero() {
		t.Errorf("Coverage of another source = %v, %v", first, err)
	}
}

// TestEveryInsertSendsTheSettings checks the settings of inserts. A cluster must
// not acknowledge an insert that it has only queued.
func TestEveryInsertSendsTheSettings(t *testing.T) {
	t.Parallel()
	_, name := database(t)
	conn, inserts := columnstoretest.RecordInserts(t)
	if err := loader.New(conn, name).Load(t.Context(), batchOf(t, "test", station("a"), concentration(air.PM25, now, 50))); err != nil {
		t.Fatal(err)
	}
	inserts.Check(t, "reading", "station")
}

// deadConn is a connection that fails from the nth insert on.
type deadConn struct {
	driver.Conn
	after int
}

var errAway = errors.New("connection refused")

func (c *deadConn) PrepareBatch(ctx context.Context, query string, o ...driver.PrepareBatchOption) (driver.Batch, error) {
	if c.after--; c.after < 0 {
		return nil, errAway
	}
	return c.Conn.PrepareBatch(ctx, query, o...)
}

func TestFailedInsertIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	for inserts := range 2 { // it fails before the stations, and before the readings
		id := fmt.Sprint("dies-after-", inserts)
		dying := &deadConn{Conn: conn, after: inserts}
		l := loader.New(dying, name)
		b := batchOf(t, "test", station(id), concentration(air.PM25, now, 50))
		if err := l.Load(t.Context(), b); !errors.Is(err, errAway) {
			t.Errorf("Load = %v, want the engine's error", err)
		}
		dying.after = 10
		if err := l.Load(t.Context(), b); err != nil {
			t.Errorf("Load after the engine came back: %v", err)
		}
		if got := count(t, conn, "SELECT count() FROM "+name+".reading FINAL WHERE station = '"+id+"'"); got != 1 {
			t.Errorf("%d readings of %s, want 1", got, id)
		}
		if got := count(t, conn, "SELECT count() FROM "+name+".station FINAL WHERE id = '"+id+"'"); got != 1 {
			t.Errorf("%d stations %s, want 1", got, id)
		}
	}
}

func TestUnreachableEngineIsAnError(t *testing.T) {
	t.Parallel()
	conn, err := clickhouse.Open(&clickhouse.Options{Addr: []string{"127.0.0.1:1"}, Protocol: clickhouse.HTTP, DialTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	l := loader.New(conn, "vayu")
	if err := l.Load(t.Context(), batchOf(t, "test", station("a"), concentration(air.PM25, now, 50))); err == nil {
		t.Error("Load acknowledged a batch that is not stored")
	}
	if _, _, err := l.Coverage(t.Context(), "test", now); err == nil {
		t.Error("Coverage answered without an engine")
	}
}
