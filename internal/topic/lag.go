package topic

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
)

// lagFresh is how long a measured lag is exported. In this time the lag is measured three times, so two measurements
// may fail. No lag is exported after that, because an old value would mislead.
const lagFresh = 15 * time.Second

// lag is a metric: the messages in the partitions of this instance that are not committed yet. It is a
// prometheus.Collector.
//
// Between two rebalances (a generation) each partition belongs to one instance. At a rebalance, an instance exports no
// lag for its former partitions. So no partition counts twice, and the sum over all instances is the lag of the group.
type lag struct {
	messages, at *prometheus.Desc

	progress atomic.Pointer[progress] // in the current generation; nil between generations
	measured atomic.Int64             // time of the last measurement in milliseconds; 0 for never
	reading  atomic.Bool              // set once this instance consumes the topic
}

// progress has the position and the end of each partition of a generation.
type progress struct {
	lock sync.Mutex
	next map[int]int64 // first unfinished message by partition
	last map[int]int64 // end of the partition; absent if unknown
	at   time.Time     // when all partitions were last measured; zero for never
}

func newProgress(assigned []kafka.PartitionAssignment) *progress {
	p := &progress{next: map[int]int64{}, last: map[int]int64{}}
	for _, a := range assigned {
		p.next[a.ID] = a.Offset
	}
	return p
}

// recordFinished records, after a commit, the offset of the first unfinished message of each partition.
func (p *progress) recordFinished(next map[int]int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	maps.Copy(p.next, next)
}

// recordOffsets records the end offsets of partitions. `all` is true if it has recorded one for each partition of p.
func (p *progress) recordOffsets(partitions []kafka.PartitionOffsets, now time.Time) (all bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	seen := 0
	for _, of := range partitions {
		next, ours := p.next[of.Partition]
		if !ours || of.Error != nil {
			continue
		}
		seen++
		p.last[of.Partition] = of.LastOffset
		if next < 0 { // kafka.FirstOffset: the group has no offset
			p.next[of.Partition] = of.FirstOffset
		}
	}
	if seen < len(p.next) {
		return false
	}
	p.at = now
	return true
}

// unfinished returns the number of unfinished messages. `known` is false if the measurement is older than lagFresh.
func (p *progress) unfinished(now time.Time) (messages int64, known bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for id, last := range p.last {
		messages += max(0, last-p.next[id])
	}
	return messages, now.Sub(p.at) <= lagFresh
}

// describe sets the names of the metrics, which begin with the given prefix, and their help texts.
func (l *lag) describe(prefix string) {
	l.messages = prometheus.NewDesc(prefix+"_lag_messages",
		"Messages of this reader's partitions that are not finished, as of some seconds ago. The sum over instances is the group's. Absent while it is not known.", nil, nil)
	l.at = prometheus.NewDesc(prefix+"_lag_measured_timestamp_seconds",
		"When the lag was last measured, seconds since 1970; 0 for never. Absent on instances that do not read the topic. Old while the brokers, or the group, cannot be reached.", nil, nil)
}

// Describe implements prometheus.Collector.
func (l *lag) Describe(to chan<- *prometheus.Desc) { to <- l.messages; to <- l.at }

// Collect implements prometheus.Collector.
func (l *lag) Collect(to chan<- prometheus.Metric) {
	if !l.reading.Load() {
		return
	}
	to <- prometheus.MustNewConstMetric(l.at, prometheus.GaugeValue, float64(l.measured.Load())/1000)
	if p := l.progress.Load(); p != nil {
		if messages, known := p.unfinished(time.Now()); known {
			to <- prometheus.MustNewConstMetric(l.messages, prometheus.GaugeValue, float64(messages))
		}
	}
}
