package kafka

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"vayu/dispatch/outbox"
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

func TestStaleLagIsNotExported(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	var l lag
	check := func(when string, after time.Duration, want int64, wantKnown bool) {
		t.Helper()
		got, _, known := l.total(begun.Add(after))
		if known != wantKnown || known && got != want {
			t.Errorf("%s: got %d, %v, want %d, %v", when, got, known, want, wantKnown)
		}
	}
	check("before the first generation", 0, 0, false)
	turn := l.begin([]kafka.PartitionAssignment{{ID: 0, Offset: 5}, {ID: 3, Offset: kafka.FirstOffset}})
	check("before it was measured", 0, 0, false)
	l.saw(turn, []kafka.PartitionOffsets{{Partition: 0, LastOffset: 9}, {Partition: 3, Error: kafka.NotLeaderForPartition}}, begun)
	check("one of two has answered", 0, 0, false)
	l.saw(turn, []kafka.PartitionOffsets{{Partition: 0, LastOffset: 9}, {Partition: 3, FirstOffset: 2, LastOffset: 4}, {Partition: 7, LastOffset: 100}}, begun)
	check("both have", 0, 6, true)
	l.moved(map[int]int64{0: 9})
	check("one is finished", 0, 2, true)
	check("still fresh", lagFresh, 2, true)
	check("stale", lagFresh+1, 0, false)
	l.saw(turn, []kafka.PartitionOffsets{{Partition: 0, LastOffset: 9}, {Partition: 3, FirstOffset: 2, LastOffset: 4}}, begun.Add(time.Minute))
	check("fresh again", time.Minute, 2, true)
	l.end()
	check("of the next member", time.Minute, 0, false)
	l.saw(turn, nil, begun.Add(time.Minute))
	check("an answer of the generation before", time.Minute, 0, false)
	l.saw(l.begin(nil), nil, begun.Add(time.Minute))
	check("a member without a partition", time.Minute, 0, true)
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
			stops = append(stops, consume(t, l, func(context.Context, []outbox.Event) (map[string]error, error) {
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
