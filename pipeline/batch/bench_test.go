package batch_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// fullBatch returns the body of a batch of 10,000 recharges.
func fullBatch() string {
	var b strings.Builder
	for i := range schema.MaxBatchRecords {
		fmt.Fprintf(&b, `,{"type":"prepaid","mobile":"90000%05d","operator":"auto","amount":199,"ref_id":"salary-2026-11-%05d"}`, i, i)
	}
	return `{"recharges":[` + b.String()[1:] + `]}`
}

// eachBench runs a benchmark on both engines.
func eachBench(b *testing.B, room int, do func(b *testing.B, s *batchFixture)) {
	b.Helper()
	for name, open := range map[string]func(testing.TB) *sqlstore.DB{"sqlite": sqlstoretest.SQLite, "postgres": sqlstoretest.Postgres} {
		b.Run(name, func(b *testing.B) {
			db := open(b)
			createThingTable(b, db)
			s := newBatchFixture(b, db, room)
			s.a = accesstest.AddTenant(b, db, "a")
			s.newDoor()
			do(b, s)
		})
	}
}

// BenchmarkAccept accepts a batch of 10,000 (1.1 MB) until it is durable. The contract
// allows a second, during which other writers wait.
func BenchmarkAccept(b *testing.B) {
	eachBench(b, 1, func(b *testing.B, s *batchFixture) { //nolint:thelper // it is the benchmark
		body := fullBatch()
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			s.door.Do(s.a.Keys[schema.Live], "POST", path, body).Want(b, "a batch", 202)
		}
	})
}

// BenchmarkWork processes a batch of 10,000 from its first lease to its last record. One
// transaction begins and finishes each record.
func BenchmarkWork(b *testing.B) {
	eachBench(b, 256, func(b *testing.B, s *batchFixture) { //nolint:thelper // it is the benchmark
		s.whole = true
		body := fullBatch()
		var took time.Duration
		for b.Loop() {
			id := s.door.Do(s.a.Keys[schema.Live], "POST", path, body).TextAt("batch_id")
			began := time.Now()
			stop := s.run()
			s.wait(id)
			took += time.Since(began)
			stop()
		}
		b.ReportMetric(float64(b.N)*schema.MaxBatchRecords/took.Seconds(), "records/s")
	})
}

// BenchmarkStream streams the results of 10,000 records.
func BenchmarkStream(b *testing.B) {
	eachBench(b, 256, func(b *testing.B, s *batchFixture) { //nolint:thelper // it is the benchmark
		id := s.door.Do(s.a.Keys[schema.Live], "POST", path, fullBatch()).TextAt("batch_id")
		stop := s.run()
		s.wait(id)
		stop()
		b.ReportAllocs()
		for b.Loop() {
			s.get(path+"/"+id+"/results", "Accept", "application/x-ndjson").Want(b, "results", 200)
		}
		b.ReportMetric(float64(b.N)*schema.MaxBatchRecords/b.Elapsed().Seconds(), "records/s")
	})
}

// BenchmarkQueued measures the memory of 50 queued batches of 10,000, with records of 50
// accounts in flight.
func BenchmarkQueued(b *testing.B) {
	eachBench(b, 256, func(b *testing.B, s *batchFixture) { //nolint:thelper // it is the benchmark
		body, accounts := fullBatch(), 0
		for b.Loop() {
			before := heap()
			started := make(chan struct{}, 256)
			s.NoGrace()
			s.before = func(ctx context.Context, _ item.Item) error {
				started <- struct{}{}
				<-ctx.Done()
				return errAway
			}
			for range 50 {
				accounts++
				of := accesstest.AddTenant(b, s.DB, fmt.Sprint("tenant", accounts))
				s.newDoor()
				s.door.Do(of.Keys[schema.Live], "POST", path, body).Want(b, "a batch", 202)
			}
			stop := s.run()
			for range 256 {
				<-started
			}
			b.ReportMetric(heap()-before, "MB")
			stop()
		}
	})
}

// heap returns the heap in use, in MB.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse) / 1e6
}
