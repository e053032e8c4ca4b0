package ifsc

import (
	"runtime"
	"testing"
)

// BenchmarkFind looks up an existing and a missing code.
func BenchmarkFind(b *testing.B) {
	codes()
	for name, code := range map[string]string{"found": "SBIN0001234", "unknown": "SBIN0ZZZZZZ", "lent": "HDFC0CAACOB"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Find(code)
			}
		})
	}
}

// BenchmarkDecode measures the first look-up and the retained memory.
func BenchmarkDecode(b *testing.B) {
	var kept *table
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		text, err := unpacked(packed)
		if err != nil {
			b.Fatal(err)
		}
		kept = newTable(text)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-kept")
	b.ReportMetric(float64(len(kept.entries)), "codes")
	b.ReportMetric(float64(len(packed))/1e3, "kB-packed")
}
