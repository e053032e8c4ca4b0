package eventlog

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"
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
	maps.Copy(l.next, next)
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

// watch looks from time to time how long the partitions have become, and whether
// there are more of them. It ends when the generation is over, or must be.
//
// The lag is not learned from what is fetched, because the figure matters most
// when nothing is: while events are refused.
func (g *generation) watch() {
	tick := time.NewTicker(g.pace.watch)
	defer tick.Stop()
	client := &kafka.Client{Addr: g.addr, Transport: g.transport, Timeout: answer}
	for {
		g.measure(client)
		select {
		case <-g.over.Done():
			return
		case <-tick.C:
		}
		if g.overlooks(client) {
			g.Config.Log.InfoContext(g.ctx, "the topic has new partitions; the group shares them out")
			return
		}
	}
}

// measure asks for the bounds of the member's partitions. Where that fails, those
// who fetch say so.
func (g *generation) measure(client *kafka.Client) {
	var asked []kafka.OffsetRequest
	for _, p := range g.gen.Assignments[g.Topic] {
		asked = append(asked, kafka.FirstOffsetOf(p.ID), kafka.LastOffsetOf(p.ID))
	}
	if len(asked) == 0 {
		return
	}
	reply, err := client.ListOffsets(g.over, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{g.Topic: asked}})
	if err == nil {
		g.lag.saw(reply.Topics[g.Topic])
	}
}

// overlooks is whether the topic has a partition that no member of the group
// reads. The client's own watcher compares with what it saw when the generation
// began, and would never notice partitions that came between the sharing out and
// that moment.
func (g *generation) overlooks(client *kafka.Client) bool {
	partitions, err := g.partitions(g.over, g.Topic)
	if err != nil {
		return false
	}
	reply, err := client.DescribeGroups(g.over, &kafka.DescribeGroupsRequest{GroupIDs: []string{g.Group}})
	if err != nil || len(reply.Groups) != 1 || reply.Groups[0].Error != nil || reply.Groups[0].GroupState != "Stable" {
		return false // it is being shared out
	}
	read := map[int32]bool{}
	for _, member := range reply.Groups[0].Members {
		for _, topic := range member.MemberAssignments.Topics {
			if topic.Topic != g.Topic {
				continue
			}
			for _, p := range topic.Partitions {
				read[int32(p)] = true
			}
		}
	}
	return slices.ContainsFunc(partitions, func(p metadata.ResponsePartition) bool { return !read[p.PartitionIndex] })
}
