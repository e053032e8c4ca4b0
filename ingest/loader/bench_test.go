package loader_test

import (
	"context"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/ingest"
	"vayu/ingest/loader"
	"vayu/ingest/source/simulator"
)

// days collects the batches of n simulated days.
func days(b *testing.B, n int) (batches []*ingest.Batch, rows int) {
	b.Helper()
	src, err := simulator.DefaultConfig().New(simulator.Name, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	err = src.Fetch(b.Context(), ingest.Window{From: now.Add(-time.Duration(n) * day), To: now}, func(batch *ingest.Batch) error {
		batches = append(batches, batch)
		rows += batch.Rows()
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		for _, batch := range batches {
			batch.Release()
		}
	})
	return batches, rows
}

// rows is a batch as slices, as in a program without Arrow.
type rows struct {
	station, source, parameter []string
	kind, flag                 []int8
	at                         []time.Time
	value                      []float64
	averaging                  []uint16
}

func slices(batch *ingest.Batch) rows {
	var s rows
	for row := range batch.Rows() {
		r := batch.Reading(row)
		s.station, s.source = append(s.station, r.Station), append(s.source, r.Source)
		s.parameter, s.kind, s.flag = append(s.parameter, r.Parameter.ID()), append(s.kind, int8(r.Kind)), append(s.flag, int8(r.Flag))
		s.at, s.value, s.averaging = append(s.at, r.At), append(s.value, r.Value), append(s.averaging, r.Averaging)
	}
	return s
}

// insertRaw is the column insert of clickhouse-go's own documentation.
func insertRaw(ctx context.Context, conn driver.Conn, database string, s rows) error {
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+database+".reading (station, parameter, at, value, kind, averaging, flag, source)")
	if err != nil {
		return err
	}
	defer func() { _ = batch.Close() }()
	for i, column := range []any{s.station, s.parameter, s.at, s.value, s.kind, s.averaging, s.flag, s.source} {
		if err := batch.Column(i).Append(column); err != nil {
			return err
		}
	}
	return batch.Send()
}

// BenchmarkLoaderAgainstRawInsert alternately stores the same million readings
// with the loader and with clickhouse-go alone. It reports the loader's share of
// the raw throughput, which must be at least 0.8.
func BenchmarkLoaderAgainstRawInsert(b *testing.B) {
	conn, database := database(b)
	batches, n := days(b, 22)
	plain := make([]rows, len(batches))
	for i, batch := range batches {
		plain[i] = slices(batch)
	}
	l := loader.New(conn, database)
	empty := func() {
		if err := conn.Exec(b.Context(), "TRUNCATE TABLE "+database+".reading"); err != nil {
			b.Fatal(err)
		}
	}
	var loading, raw time.Duration
	for b.Loop() {
		empty()
		begun := time.Now()
		for _, s := range plain {
			if err := insertRaw(b.Context(), conn, database, s); err != nil {
				b.Fatal(err)
			}
		}
		raw += time.Since(begun)
		empty()
		begun = time.Now()
		for _, batch := range batches {
			if err := l.Load(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
		}
		loading += time.Since(begun)
	}
	b.ReportMetric(raw.Seconds()/loading.Seconds(), "x-of-raw")
	b.ReportMetric(float64(n*b.N)/loading.Seconds(), "readings/s")
	b.ReportMetric(float64(n*b.N)/raw.Seconds(), "raw-readings/s")
}

// BenchmarkFirstFill stores the first 36 hours of the sandbox. A fresh start waits
// for this and the roll-up before its first answer.
func BenchmarkFirstFill(b *testing.B) {
	conn, database := database(b)
	src, err := simulator.DefaultConfig().New(simulator.Name, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	l, stored := loader.New(conn, database), 0
	for b.Loop() {
		err := src.Fetch(b.Context(), ingest.Window{From: now.Add(-36 * time.Hour), To: now}, func(batch *ingest.Batch) error {
			defer batch.Release()
			stored += batch.Rows()
			return l.Load(b.Context(), batch)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(stored)/b.Elapsed().Seconds(), "readings/s")
}
