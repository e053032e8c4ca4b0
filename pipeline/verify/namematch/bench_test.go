package namematch

import (
	"strings"
	"testing"

	"vayu/internal/testing/fixture"
)

// BenchmarkCompare runs over the labelled pairs, all kinds mixed. On a machine
// that others use, pairs/cpu-s is the figure of one core.
func BenchmarkCompare(b *testing.B) {
	pairs := readPairs(b)
	b.ReportAllocs()
	i := 0
	start := fixture.ProcessorTime()
	for b.Loop() {
		p := &pairs[i%len(pairs)]
		Compare(p.expected, p.registered)
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
	b.ReportMetric(float64(b.N)/(fixture.ProcessorTime()-start).Seconds(), "pairs/cpu-s")
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
