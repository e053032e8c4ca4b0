package fixturetest

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Figure is the value of a counter or gauge, or how often a histogram was told
// something: of the one with these labels, names and values in turn, and the sum over
// those that have more. It is 0 for labels that were never used, and fails the test
// when there is no metric of the name.
func Figure(tb testing.TB, reg prometheus.Gatherer, name string, labels ...string) (sum float64) {
	tb.Helper()
	families, err := reg.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			have := map[string]string{}
			for _, pair := range m.GetLabel() {
				have[pair.GetName()] = pair.GetValue()
			}
			if has(have, labels) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
		return sum
	}
	if len(labels) == 0 {
		tb.Fatalf("there is no metric %s", name)
	}
	return 0
}

func has(have map[string]string, labels []string) bool {
	for i := 0; i+1 < len(labels); i += 2 {
		if have[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}
