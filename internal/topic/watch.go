package topic

import (
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"
)

// watch measures the lag until the generation is over. If the topic has new partitions, watch
// returns, which ends the generation.
//
// watch does not derive the lag from fetches: while processing fails, there are no fetches,
// but the lag matters most.
func (g *generation) watch() {
	tick := time.NewTicker(g.Pace.Watch)
	defer tick.Stop()
	client := &kafka.Client{Addr: g.addr, Transport: g.transport, Timeout: answer}
	for {
		g.measure(client)
		select {
		case <-g.over.Done():
			return
		case <-tick.C:
		}
		if g.hasUnassigned(client) {
			g.Config.Log.InfoContext(g.ctx, "the topic has new partitions; rebalancing the group")
			return
		}
	}
}

// measure reads the first and last offsets of the member's partitions. After a failure, the lag
// keeps its last value until lagFresh has passed.
func (g *generation) measure(client *kafka.Client) {
	var requests []kafka.OffsetRequest
	for _, p := range g.gen.Assignments[g.Topic] {
		requests = append(requests, kafka.FirstOffsetOf(p.ID), kafka.LastOffsetOf(p.ID))
	}
	if len(requests) == 0 { // more members than partitions
		g.lag.saw(g.lagGeneration, nil, time.Now())
		return
	}
	reply, err := client.ListOffsets(g.over, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{g.Topic: requests}})
	if err == nil {
		g.lag.saw(g.lagGeneration, reply.Topics[g.Topic], time.Now())
	}
}

// hasUnassigned reports whether the topic has a partition that no member reads. The
// watcher of the Kafka client starts with the generation. So that watcher misses
// partitions added between the assignment and the start of the generation.
func (g *generation) hasUnassigned(client *kafka.Client) bool {
	partitions, err := g.partitions(g.over, g.Topic)
	if err != nil {
		return false
	}
	reply, err := client.DescribeGroups(g.over, &kafka.DescribeGroupsRequest{GroupIDs: []string{g.Group}})
	if err != nil || len(reply.Groups) != 1 || reply.Groups[0].Error != nil || reply.Groups[0].GroupState != "Stable" {
		return false // rebalancing
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
