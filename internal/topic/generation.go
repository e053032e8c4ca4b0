package topic

import (
	"context"
	"time"

	"github.com/segmentio/kafka-go"

	"vayu/internal/failurelog"
)

// generation is the state of this member between two rebalances of the group. During that
// time, the partitions of the member do not change.
type generation struct {
	*reader

	gen           *kafka.Generation
	over          context.Context      // ends with the generation or with Consume
	working       context.Context      // ends with Consume, or the time grace after over
	chunks        chan []kafka.Message // successive messages of a partition, about 1 MiB
	rest          []kafka.Message      // of the last chunk
	lagGeneration int                  // number of this generation in the struct lag
}

// serve consumes messages until the generation (time between two rebalances) is over.
func (r *reader) serve(gen *kafka.Generation) {
	// The member rejoins the group after all functions that gen has started have ended. This
	// goroutine processes the messages, so that a panic of process reaches the caller of Consume.
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

	g := &generation{reader: r, gen: gen, over: over, working: working, chunks: make(chan []kafka.Message, r.Limits.Ahead)}
	assigned := gen.Assignments[r.Topic]
	g.lagGeneration = r.lag.begin(assigned)
	defer r.lag.end()
	for _, place := range assigned {
		p := &partition{generation: g, id: place.ID, offset: place.Offset}
		gen.Start(func(context.Context) { p.fetch() })
	}
	gen.Start(func(context.Context) { g.watch() })
	for {
		batch := g.collect()
		if len(batch) == 0 || !g.finish(batch) {
			return
		}
	}
}

// collect waits for a message, and gathers the messages that follow within Limits.Linger. It
// returns nil if the generation ends before the first message.
func (g *generation) collect() []kafka.Message {
	if len(g.rest) == 0 {
		select {
		case g.rest = <-g.chunks:
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
		case g.rest = <-g.chunks:
		case <-enough.C:
			return batch
		case <-g.over.Done():
			return batch
		}
	}
}

// finish processes a batch, writes its dead letters and commits its offsets, in this
// order. It returns false if the offsets are not committed. The generation must then end,
// and the messages of the batch are consumed again.
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

// retryUntilDone calls do until it succeeds. It returns false if the generation ends before.
// It calls do at least once, even if the generation has ended already.
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

// commit commits the offsets after a batch. It returns false if the group's coordinator
// rejects the commit or is unreachable. The member must then rejoin the group.
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
	g.lag.moved(next)
	return true
}
