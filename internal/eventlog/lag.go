package eventlog

import (
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// lag is how far this reader is behind the end of its partitions.
type lag struct {
	lock sync.Mutex
	next map[int]int64 // the first message that is not finished, by partition
	last map[int]int64 // the end of the partition; absent until it is known
}

// begin forgets everything, and takes the places of a new generation.
func (l *lag) begin(assigned []kafka.PartitionAssignment) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.next, l.last = map[int]int64{}, map[int]int64{}
	for _, p := range assigned {
		l.next[p.ID] = p.Offset
	}
}

func (l *lag) moved(next map[int]int64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for p, offset := range next {
		l.next[p] = offset
	}
}

// saw notes the bounds of partitions.
func (l *lag) saw(partitions []kafka.PartitionOffsets) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, p := range partitions {
		next, ours := l.next[p.Partition]
		if !ours || p.Error != nil {
			continue
		}
		l.last[p.Partition] = p.LastOffset
		if next < 0 { // kafka.FirstOffset
			l.next[p.Partition] = p.FirstOffset
		}
	}
}

func (l *lag) total() (messages int64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for p, last := range l.last {
		messages += max(0, last-l.next[p])
	}
	return messages
}

// watchLag asks for the ends of the partitions from time to time. It does not
// learn them from what is fetched, because the figure matters most when nothing
// is: while events are refused.
func (g *generation) watchLag() {
	tick := time.NewTicker(g.pace.watch)
	defer tick.Stop()
	client := &kafka.Client{Addr: g.addr, Transport: g.transport, Timeout: answer}
	for {
		var asked []kafka.OffsetRequest
		for _, p := range g.gen.Assignments[g.Topic] {
			asked = append(asked, kafka.FirstOffsetOf(p.ID), kafka.LastOffsetOf(p.ID))
		}
		if len(asked) > 0 {
			reply, err := client.ListOffsets(g.over, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{g.Topic: asked}})
			if err == nil { // where not, those who fetch say so
				g.lag.saw(reply.Topics[g.Topic])
			}
		}
		select {
		case <-g.over.Done():
			return
		case <-tick.C:
		}
	}
}
