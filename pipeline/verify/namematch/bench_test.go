package namematch

import (
	"strings"
	"testing"
)

// BenchmarkCompare runs over the labelled pairs, all kinds mixed.
func BenchmarkCompare(b *testing.B) {
	pairs := readPairs(b)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		p := &pairs[i%len(pairs)]
		Compare(p.expected, p.registered)
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
}

// BenchmarkCompareLong is two names of 5,000 characters that differ at the end.
func BenchmarkCompareLong(b *testing.B) {
	x := strings.Repeat("Ramesh राजेश ", 400)[:5000]
	y := x + " Kumar"
	b.ReportAllocs()
	for b.Loop() {
		Compare(x, y)
	}
}
