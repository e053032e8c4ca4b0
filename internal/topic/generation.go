package topic

import (
	"context"
	"time"

	"github.com/segmentio/kafka-go"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
)

// generation is the state of this member between two rebalances of the group. During that
// time, the partitions of the member do not change.
type generation struct {
	*reader
	*progress

	gen     *kafka.Generation
	over    context.Context      // ends with the generation, or with the context of Consume
	working context.Context      // ends `grace` after `over`, or with the context of Consume
	fetched chan []kafka.Message // each element has the messages of one reply
	rest    []kafka.Message      // messages of the last reply that are not in a batch yet
}

// serve consumes messages until the generation (time between two rebalances) is over.
func (r *reader) serve(gen *kafka.Generation) {
	// The member rejoins the group when all functions that gen has started have ended. The function that waits for the
	// channel `done` therefore delays the rejoining until serve returns. Messages are processed in this goroutine, so
	// that a panic of the function `process` reaches the caller of Consume.
	done := make(chan struct{})
	begun := make(chan context.Context, 1)
	gen.Start(func(ctx context.Context) { begun <- ctx; <-done })
	defer close(done)
	over, cancel := context.WithCancel(<-begun)
	defer cancel()
	defer context.AfterFunc(r.ctx, cancel)()
	working, stop := context.WithCancel(r.ctx)
	defer stop()
	defer context.AfterFunc(over, func() {
		late := time.AfterFunc(grace, stop)
		context.AfterFunc(working, func() { late.Stop() })
	})()

	assigned := gen.Assignments[r.Topic]
	g := &generation{
		reader: r, progress: newProgress(assigned), gen: gen, over: over, working: working, fetched: make(chan []kafka.Message, r.Limits.Ahead),
	}
	r.lag.progress.Store(g.progress)
	defer r.lag.progress.Store(nil)
	for _, a := range assigned {
		p := &partition{generation: g, id: a.ID, offset: a.Offset}
		gen.Start(func(context.Context) { p.run() })
	}
	gen.Start(func(context.Context) { g.watch() })
	for {
		batch := g.collect()
		if len(batch) == 0 || !g.finish(batch) {
			return
		}
	}
}

// watch measures the lag until the generation is over. It does not derive the lag from fetches: while processing fails,
// there are no fetches, but then the lag matters most. If the topic has new partitions, watch returns, which ends the
// generation.
func (g *generation) watch() {
	for {
		g.measure()
		if !sleep.For(g.over, g.Pace.Watch) {
			return
		}
		if g.hasUnassigned() {
			g.Config.Log.InfoContext(g.ctx, "the topic has new partitions; rebalancing the group")
			return
		}
	}
}

// hasUnassigned reports whether the topic has a partition that no member reads. The Kafka client's own watcher is not
// enough: it starts with the generation, and misses partitions that were added between the assignment and its start.
func (g *generation) hasUnassigned() bool {
	partitions, err := g.partitions(g.over, g.Topic)
	if err != nil {
		return false
	}
	reply, err := g.fetcher.DescribeGroups(g.over, &kafka.DescribeGroupsRequest{GroupIDs: []string{g.Group}})
	if err != nil || len(reply.Groups) != 1 || reply.Groups[0].Error != nil || reply.Groups[0].GroupState != "Stable" {
		return false // the group is rebalancing
	}
	assigned := 0 // counts no partition twice, because each has one member
	for _, member := range reply.Groups[0].Members {
		for _, topic := range member.MemberAssignments.Topics {
			if topic.Topic == g.Topic {
				assigned += len(topic.Partitions)
			}
		}
	}
	return assigned < len(partitions)
}

// measure reads the first and last offsets of the member's partitions, and records them. If that fails, the lag is
// still computed from the offsets recorded before, until lagFresh has passed.
func (g *generation) measure() {
	offsets := &kafka.ListOffsetsResponse{}
	var requests []kafka.OffsetRequest
	for _, p := range g.gen.Assignments[g.Topic] {
		requests = append(requests, kafka.FirstOffsetOf(p.ID), kafka.LastOffsetOf(p.ID))
	}
	if len(requests) > 0 { // else there are more members than partitions
		var err error
		if offsets, err = g.fetcher.ListOffsets(g.over, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{g.Topic: requests}}); err != nil {
			return
		}
	}
	if now := time.Now(); g.recordOffsets(offsets.Topics[g.Topic], now) {
		g.lag.measured.Store(now.UnixMilli())
	}
}

// collect waits for a message, and gathers the messages that follow within Limits.Linger, up to Limits.Messages and
// Limits.Bytes. It returns nil if the generation ends before the first message.
func (g *generation) collect() []kafka.Message {
	if len(g.rest) == 0 {
		select {
		case g.rest = <-g.fetched:
		case <-g.over.Done():
			return nil
		}
	}
	var batch []kafka.Message
	bytes := 0
	enough := time.NewTimer(g.Limits.Linger)
	defer enough.Stop()
	for {
		for len(g.rest) > 0 {
			if len(batch) == g.Limits.Messages || bytes >= g.Limits.Bytes {
				return batch
			}
			batch, bytes = append(batch, g.rest[0]), bytes+len(g.rest[0].Value)
			g.rest = g.rest[1:]
		}
		select {
		case g.rest = <-g.fetched:
		case <-enough.C:
			return batch
		case <-g.over.Done():
			return batch
		}
	}
}

// finish processes a batch, writes its dead letters and commits its offsets, in this order. It returns false if the
// offsets are not committed. The generation must then end, and the messages of the batch are consumed again.
func (g *generation) finish(batch []kafka.Message) bool {
	var dead []Dead
	ok := g.retryUntilDone(g.processing, func() (err error) {
		dead, err = g.process(g.working, batch)
		return err
	})
	ok = ok && (len(dead) == 0 || g.retryUntilDone(g.writingDead, func() (err error) {
		dead, err = g.writeDead(g.working, dead)
		return err
	}))
	return ok && g.commit(batch)
}

// retryUntilDone calls `do` until `do` succeeds. It returns false if `do` fails and the generation ends before a retry.
// It calls `do` at least once, even if the generation has already ended.
func (g *generation) retryUntilDone(failures *failurelog.Log, do func() error) bool {
	for pause := newBackoff(g.Pace.Retry); ; {
		err := do()
		failures.Observe(g.working, err)
		if err == nil {
			return true
		}
		if g.working.Err() != nil || !pause.wait(g.over) {
			return false
		}
	}
}

// commit commits the offsets that follow the messages of a batch. It returns false if the group's coordinator rejects
// the commit or is unreachable. The member must then rejoin the group.
func (g *generation) commit(batch []kafka.Message) bool {
	next := map[int]int64{}
	for _, m := range batch {
		next[m.Partition] = max(next[m.Partition], m.Offset+1)
	}
	if err := g.gen.CommitOffsets(map[string]map[int]int64{g.Topic: next}); err != nil {
		g.metrics.commitFailures.Inc()
		g.Config.Log.DebugContext(g.ctx, "committing offsets", "error", err)
		newBackoff(g.Pace.Retry).wait(g.over) // limits the rate if commits are rejected permanently
		return false
	}
	g.metrics.consumed.Add(float64(len(batch)))
	g.recordFinished(next)
	return true
}
