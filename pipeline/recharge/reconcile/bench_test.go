package reconcile_test

import (
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/recharge/reconcile"
)

// BenchmarkCompare compares a file of a million lines, of which a hundredth has a
// recharge, and reports the peak of the heap. Known and unknown lines cost the same query.
func BenchmarkCompare(b *testing.B) {
	const total, known = 1_000_000, 10_000
	s := newStore(b, sqlstoretest.SQLite(b))
	ids := s.add(slices.Repeat([]row{{}}, known)...)
	var text strings.Builder
	text.WriteString("client_ref,status,amount,txn_id\n")
	for i := range total {
		id := idAt(noon, 1_000_000+i)
		if i%(total/known) == 0 {
			id = ids[i*known/total]
		}
		text.WriteString(line(id, "SUCCESS") + "\n")
	}
	c := agg(s)
	c.From, c.To = day, day.Add(24*time.Hour)
	for b.Loop() {
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		most, n := uint64(0), 0
		in := strings.NewReader(text.String())
		sum, err := c.Run(b.Context(), in, func(reconcile.Difference) error {
			if n++; n%50_000 == 0 {
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc-before.HeapAlloc)
			}
			return nil
		})
		switch {
		case err != nil:
			b.Fatal(err)
		case sum.Lines != total:
			b.Fatalf("sum.Lines = %v, want %v", sum.Lines, total)
		case sum.Matches["success"].Count != known:
			b.Fatalf("sum.Matches[\"success\"].Count = %v, want %v", sum.Matches["success"].Count, known)
		case sum.Left != total-known:
			b.Fatalf("sum.Left = %v, want %v", sum.Left, total-known)
		}
		b.ReportMetric(float64(most)/(1<<20), "heap-MB")
	}
	b.ReportMetric(float64(total)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkParse reads a file of a million lines.
func BenchmarkParse(b *testing.B) {
	const total = 1_000_000
	text := "client_ref,status,amount,txn_id\n" + strings.Repeat(line("txn_01JD0000000000000000000001", "SUCCESS")+"\n", total)
	for b.Loop() {
		n := 0
		for _, err := range reconcile.Parse(io.Reader(strings.NewReader(text)), reconcile.Layout{}) {
			if n++; err != nil {
				b.Fatal(err)
			}
		}
		if n != total {
			b.Fatalf("%d lines", n)
		}
	}
	b.SetBytes(int64(len(text)))
}
