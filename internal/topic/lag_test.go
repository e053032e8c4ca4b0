package topic

import (
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

func TestStaleLagIsNotExported(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	l := newProgress([]kafka.PartitionAssignment{{ID: 0, Offset: 5}, {ID: 3, Offset: kafka.FirstOffset}})
	check := func(when string, after time.Duration, want int64, wantKnown bool) {
		t.Helper()
		got, known := l.unfinished(begun.Add(after))
		if known != wantKnown || known && got != want {
			t.Errorf("%s: got %d, %v, want %d, %v", when, got, known, want, wantKnown)
		}
	}
	check("before it was measured", 0, 0, false)
	l.recordOffsets([]kafka.PartitionOffsets{{Partition: 0, LastOffset: 9}, {Partition: 3, Error: kafka.NotLeaderForPartition}}, begun)
	check("one of two has answered", 0, 0, false)
	l.recordOffsets([]kafka.PartitionOffsets{{Partition: 0, LastOffset: 9}, {Partition: 3, FirstOffset: 2, LastOffset: 4}, {Partition: 7, LastOffset: 100}}, begun)
	check("both have", 0, 6, true)
	l.recordFinished(map[int]int64{0: 9})
	check("one is finished", 0, 2, true)
	check("still fresh", lagFresh, 2, true)
	check("stale", lagFresh+1, 0, false)
	l.recordOffsets([]kafka.PartitionOffsets{{Partition: 0, LastOffset: 9}, {Partition: 3, FirstOffset: 2, LastOffset: 4}}, begun.Add(time.Minute))
	check("fresh again", time.Minute, 2, true)
	l = newProgress(nil)
	l.recordOffsets(nil, begun.Add(time.Minute))
	check("a member without a partition", time.Minute, 0, true)
}
