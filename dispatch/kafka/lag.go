package kafka

import (
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
)

// lagFresh is for how long a figure is told on: three looks, of which one or two
// may fail. A figure that is older is none, because whatever it is, somebody would
// believe it.
const lagFresh = 15 * time.Second

// lag is how far this reader is behind the end of its partitions. It is a
// prometheus.Collector.
//
// Each partition belongs to one member of the group in a generation, and a member
// forgets the figures of a generation with it, so that the sum over all instances
// is the lag of the group: nothing is counted twice.
type lag struct {
	lock sync.Mutex
	turn int           // counts generations, so that an answer that comes late is known
	next map[int]int64 // the first message that is not finished, by partition
	last map[int]int64 // the end of the partition; absent until it is known
	// at is when the ends of all partitions were last seen, in the life of the Log;
	// known is whether that was in this generation.
	at    time.Time
	known bool
}

var (
	lagMessages = prometheus.NewDesc("vayu_eventlog_lag_messages",
		"Messages of this reader's partitions that are not finished, as of some seconds ago. The sum over instances is the group's. Absent while it is not known.", nil, nil)
	lagMeasured = prometheus.NewDesc("vayu_eventlog_lag_measured_timestamp_seconds",
		"When the lag was last measured, seconds since 1970; 0 for never. Old while the brokers, or the group, cannot be reached.", nil, nil)
)

// begin forgets everything, and takes the places of a new generation. It returns
// the generation's number.
func (l *lag) begin(assigned []kafka.PartitionAssignment) (turn int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.turn++
	l.next, l.last, l.known = map[int]int64{}, map[int]int64{}, false
	for _, p := range assigned {
		l.next[p.ID] = p.Offset
	}
	return l.turn
}

// end forgets everything: the partitions are somebody else's from now on, or
// nobody's.
func (l *lag) end() { l.begin(nil) }

func (l *lag) moved(next map[int]int64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	maps.Copy(l.next, next)
}

// saw notes the bounds of partitions in a generation. The lag is known when every
// partition has answered.
func (l *lag) saw(turn int, partitions []kafka.PartitionOffsets, now time.Time) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if turn != l.turn {
		return
	}
	seen := 0
	for _, p := range partitions {
		next, ours := l.next[p.Partition]
		if !ours || p.Error != nil {
			continue
		}
		seen++
		l.last[p.Partition] = p.LastOffset
		if next < 0 { // kafka.FirstOffset
			l.next[p.Partition] = p.FirstOffset
		}
	}
	if seen == len(l.next) {
		l.at, l.known = now, true
	}
}

// total is the lag, and when it was measured; known is false while it is not
// known, or was known too long ago.
func (l *lag) total(now time.Time) (messages int64, at time.Time, known bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for p, last := range l.last {
		messages += max(0, last-l.next[p])
	}
	return messages, l.at, l.known && now.Sub(l.at) <= lagFresh
}

// Describe implements prometheus.Collector.
func (l *lag) Describe(to chan<- *prometheus.Desc) { to <- lagMessages; to <- lagMeasured }

// Collect implements prometheus.Collector.
func (l *lag) Collect(to chan<- prometheus.Metric) {
	messages, at, known := l.total(time.Now())
	seconds := 0.0
	if !at.IsZero() {
		seconds = float64(at.UnixMilli()) / 1000
	}
	to <- prometheus.MustNewConstMetric(lagMeasured, prometheus.GaugeValue, seconds)
	if known {
		to <- prometheus.MustNewConstMetric(lagMessages, prometheus.GaugeValue, float64(messages))
	}
}
