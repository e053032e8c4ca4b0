package columnstore_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
)

func TestErrorsCarryClickHousesCode(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	limited := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"max_memory_usage": 50_000_000}))
	brief := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"max_execution_time": 0.2}))
	odd := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"no_such_setting": 1}))
	for name, c := range map[string]struct {
		ctx   context.Context
		query string
		code  int32
	}{
		"syntax":          {t.Context(), "SELEC 1", 62},
		"unknown table":   {t.Context(), "SELECT * FROM nowhere", 60},
		"two statements":  {t.Context(), "SHOW TABLES; SELECT 2", 62},
		"unknown setting": {odd, "SELECT 1", 115},
		"memory":          {limited, "SELECT length(groupArray(toString(number))) FROM numbers(50000000)", 241},
		"time":            {brief, "SELECT sum(sipHash64(number)) FROM numbers(100000000000)", 159},
		"in mid-stream":   {t.Context(), "SELECT throwIf(number = 900000) FROM numbers(1000000)", 395},
		"no parameter":    {t.Context(), "SELECT {x:String}", 456},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, err := db.Conn().Query(c.ctx, c.query)
			if err == nil {
				for rows.Next() {
				}
				err = rows.Err()
			}
			if code, ok := columnstore.Code(err); !ok || code != c.code {
				t.Errorf("got code %d, %v of %v, want %d", code, ok, err, c.code)
			}
		})
	}
}

func TestCancelledContextStopsTheQueryInTheEngine(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	for _, query := range []string{
		"SELECT sum(sipHash64(number)) AS endless_stream FROM numbers(1000000000000)",
		"DESCRIBE TABLE (SELECT sleepEachRow(1) AS endless_whole FROM numbers(1))", // ends by itself: no data is read
		"INSERT INTO FUNCTION null('a UInt64') SELECT sipHash64(number) AS endless_insert FROM numbers(1000000000000)",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := db.Conn().Exec(ctx, query)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want the context's error", query, err)
		}
	}
	deadline, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var running uint64
		if err := db.Conn().QueryRow(deadline, "SELECT count() FROM system.processes WHERE query LIKE '%AS endless%' AND query NOT LIKE '%processes%'").Scan(&running); err != nil {
			t.Fatal(err)
		}
		if running == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.Done():
			t.Fatalf("%d queries are still running", running)
		}
	}
}

// peak is the peak resident memory of a process, bytes.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("/proc is Linux's")
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(text)
	if m == nil {
		t.Fatal("no VmHWM")
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

func TestLargeResultsStream(t *testing.T) {
	t.Parallel()
	db := own(t, embedded(t.TempDir()))
	holder, _ := db.Holder()
	before := peak(t, holder.PID)
	const n = 10_000_000 // with the text 159 MB as Native
	rows, err := db.Conn().Query(t.Context(), "SELECT number, toString(number) AS text FROM numbers({n:UInt64})", clickhouse.Named("n", n))
	if err != nil {
		t.Fatal(err)
	}
	var count, sum, number uint64
	var text string
	for rows.Next() {
		if err := rows.Scan(&number, &text); err != nil {
			t.Fatal(err)
		}
		count++
		sum += number
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if count != n || sum != n*(n-1)/2 {
		t.Errorf("got %d rows with sum %d", count, sum)
	}
	if grown := peak(t, holder.PID) - before; grown > 100<<20 {
		t.Errorf("the engine grew by %d MB, want less than 100", grown>>20)
	}
}

func TestLargeInsert(t *testing.T) {
	t.Parallel()
	db := own(t, embedded(t.TempDir()))
	conn := db.Conn()
	if err := conn.Exec(t.Context(), `CREATE TABLE r (a String, b LowCardinality(String), c UInt64, d Float64, e Float64, f DateTime, g UInt8, h Int32, i Nullable(Float64), j UInt16)
		ENGINE = MergeTree ORDER BY (a, c)`); err != nil {
		t.Fatal(err)
	}
	const n = 1_000_000
	cols := []any{make([]string, n), make([]string, n), make([]uint64, n), make([]float64, n), make([]float64, n), make([]time.Time, n), make([]uint8, n), make([]int32, n), make([]*float64, n), make([]uint16, n)}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		cols[0].([]string)[i] = "station-" + strconv.Itoa(i%600)
		cols[1].([]string)[i] = "source"
		cols[2].([]uint64)[i] = uint64(i)
		cols[3].([]float64)[i] = float64(i)
		cols[5].([]time.Time)[i] = at
		cols[8].([]*float64)[i] = &cols[4].([]float64)[i]
	}
	holder, _ := db.Holder()
	before, began := peak(t, holder.PID), time.Now()
	batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO r")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = batch.Close() }()
	for i, values := range cols {
		if err := batch.Column(i).Append(values); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	t.Logf("1,000,000 rows of 10 columns in %s; the engine grew by %d MB", time.Since(began).Round(time.Millisecond), (peak(t, holder.PID)-before)>>20)
	var count, sum uint64
	if err := conn.QueryRow(t.Context(), "SELECT count(), sum(c) FROM r").Scan(&count, &sum); err != nil {
		t.Fatal(err)
	}
	if count != n || sum != n*(n-1)/2 {
		t.Errorf("got %d rows with sum %d", count, sum)
	}
}

func TestFailedInsertStoresNothing(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	name := columnstoretest.Database(t, db)
	if err := db.Conn().Exec(t.Context(), "CREATE TABLE "+name+".r (a UInt8, CONSTRAINT small CHECK a < 5) ENGINE = MergeTree ORDER BY a"); err != nil {
		t.Fatal(err)
	}
	batch, err := db.Conn().PrepareBatch(t.Context(), "INSERT INTO "+name+".r")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = batch.Close() }()
	if err := batch.Column(0).Append([]uint8{1, 2, 9}); err != nil {
		t.Fatal(err)
	}
	if code, _ := columnstore.Code(batch.Send()); code != 469 { // VIOLATED_CONSTRAINT
		t.Errorf("got code %d, want 469", code)
	}
	var count uint64
	if err := db.Conn().QueryRow(t.Context(), "SELECT count() FROM "+name+".r").Scan(&count); err != nil || count != 0 {
		t.Errorf("got %d rows, %v; want none", count, err)
	}
}
