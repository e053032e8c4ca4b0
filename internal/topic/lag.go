package topic

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
)

// lagFresh is how long a measured lag is exported. In this time the lag is measured three
// times, and two measurements may fail. An older value would mislead.
const lagFresh = 15 * time.Second

// lag measures how many messages of this member's partitions are not finished. It is a
// prometheus.Collector.
//
// During a generation (the time between two rebalances) each partition belongs to one
// member. A member drops its values at the end of a generation. So the sum over all
// instances is the lag of the group.
type lag struct {
	messages, measured *prometheus.Desc

	lock       sync.Mutex
	generation int           // generation number, to detect late replies
	next       map[int]int64 // first unfinished message by partition
	last       map[int]int64 // end of the partition; absent if unknown
	// at is when all partitions were last measured. known reports whether all were measured
	// in this generation.
	at    time.Time
	known bool
	// reading is set once this instance consumes the topic.
	reading atomic.Bool
}

// describe sets the names of the metrics, which begin with prefix.
func (l *lag) describe(prefix string) {
	l.messages = prometheus.NewDesc(prefix+"_lag_messages",
		"Messages of this reader's partitions that are not finished, as of some seconds ago. The sum over instances is the group's. Absent while it is not known.", nil, nil)
	l.measured = prometheus.NewDesc(prefix+"_lag_measured_timestamp_seconds",
		"When the lag was last measured, seconds since 1970; 0 for never. Absent on instances that do not read the topic. Old while the brokers, or the group, cannot be reached.", nil, nil)
}

// begin starts a generation with the offsets of its partitions, and returns the generation number.
func (l *lag) begin(assigned []kafka.PartitionAssignment) (turn int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.generation++
	l.next, l.last, l.known = map[int]int64{}, map[int]int64{}, false
	for _, p := range assigned {
		l.next[p.ID] = p.Offset
	}
	return l.generation
}

// end drops all values, because other members may get the partitions.
func (l *lag) end() { l.begin(nil) }

func (l *lag) moved(next map[int]int64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	maps.Copy(l.next, next)
}

// saw records the first and last offsets of partitions in a generation. The lag is known when the
// offsets of all partitions were read.
func (l *lag) saw(turn int, partitions []kafka.PartitionOffsets, now time.Time) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if turn != l.generation {
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

// total returns the lag and when it was measured. known is false if the lag was not
// measured in this generation or the last measurement is too old.
func (l *lag) total(now time.Time) (messages int64, at time.Time, known bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for p, last := range l.last {
		messages += max(0, last-l.next[p])
	}
	return messages, l.at, l.known && now.Sub(l.at) <= lagFresh
}

// Describe implements prometheus.Collector.
func (l *lag) Describe(to chan<- *prometheus.Desc) { to <- l.messages; to <- l.measured }

// Collect implements prometheus.Collector.
func (l *lag) Collect(to chan<- prometheus.Metric) {
	messages, at, known := l.total(time.Now())
	if !l.reading.Load() {
		return
	}
	seconds := 0.0
	if !at.IsZero() {
		seconds = float64(at.UnixMilli()) / 1000
	}
	to <- prometheus.MustNewConstMetric(l.measured, prometheus.GaugeValue, seconds)
	if known {
		to <- prometheus.MustNewConstMetric(l.messages, prometheus.GaugeValue, float64(messages))
	}
}
