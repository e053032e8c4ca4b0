package kafka

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// gauge returns the value of a metric that may be absent.
func gauge(tb testing.TB, l *Log, name string) (figure float64, there bool) {
	tb.Helper()
	families, err := l.Metrics.(*prometheus.Registry).Gather()
	if err != nil {
		tb.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "vayu_eventlog_"+name {
			return family.GetMetric()[0].GetGauge().GetValue(), true
		}
	}
	return 0, false
}

// lagIs reports whether the lag is known and equals want.
func lagIs(tb testing.TB, l *Log, want float64) bool {
	tb.Helper()
	got, known := gauge(tb, l, "lag_messages")
	return known && got == want
}

// The lags of all members add up to the lag of the group, also after members join or
// leave. A member that has left reports none.
func TestLagsSumToGroupLag(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, brokers []string) {
		first := newLog(t, brokers, nil)
		logs := []*Log{first, secondInstance(t, first), secondInstance(t, first)}
		publish(t, first, testEvents(t, 0, 300)...)
		var stops []func()
		for _, l := range logs {
			stops = append(stops, consume(t, l, func(context.Context, []string) (map[string]error, error) {
				return nil, errors.New("not yet")
			}))
		}
		sum := func(of []*Log) (all float64, known int) {
			for _, l := range of {
				figure, there := gauge(t, l, "lag_messages")
				if all += figure; there {
					known++
				}
			}
			return all, known
		}
		eventually(t, "three members share the lag", func() bool { all, known := sum(logs); return known == 3 && all == 300 })
		stops[0]()
		if _, known := sum(logs[:1]); known != 0 {
			t.Error("who has left tells a lag")
		}
		if at, _ := gauge(t, first, "lag_measured_timestamp_seconds"); at == 0 {
			t.Error("when it was measured is forgotten")
		}
		eventually(t, "two members share the lag", func() bool { all, known := sum(logs[1:]); return known == 2 && all == 300 })
	})
}
