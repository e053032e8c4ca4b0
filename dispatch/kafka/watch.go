package kafka

import (
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"
)

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
	if len(asked) == 0 { // there are more members than partitions
		g.lag.saw(g.turn, nil, time.Now())
		return
	}
	reply, err := client.ListOffsets(g.over, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{g.Topic: asked}})
	if err == nil {
		g.lag.saw(g.turn, reply.Topics[g.Topic], time.Now())
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
