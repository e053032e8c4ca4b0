package kafka

import (
	"context"
	"time"

	"github.com/segmentio/kafka-go"

	"vayu/internal/failurelog"
)

// How much is handed over at once.
const (
	mostEvents = 500
	mostBytes  = 8 << 20
	// linger is how long a batch waits for more after its first message: long
	// enough for what is on its way from several partitions, and not felt.
	linger = time.Millisecond
	// ahead is how many messages are fetched while a batch is being taken.
	ahead = 64
)

// generation is the time between two rebalances, in which the partitions of a
// member are the same.
type generation struct {
	*reader

	gen      *kafka.Generation
	over     context.Context // ends with the generation, or with Consume
	working  context.Context // ends some time after over, or with Consume
	messages chan kafka.Message
	turn     int // of the lag
}

// serve works through a generation until it is over.
func (r *reader) serve(gen *kafka.Generation) {
	// The generation waits for its functions before its member joins the next. Its
	// worker is this goroutine, so that a panic of take reaches who called Consume.
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

	g := &generation{reader: r, gen: gen, over: over, working: working, messages: make(chan kafka.Message, ahead)}
	assigned := gen.Assignments[r.Topic]
	g.turn = r.lag.begin(assigned)
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

// collect waits for a message, and gathers what comes soon after it. It is empty
// when the generation is over.
func (g *generation) collect() []kafka.Message {
	var batch []kafka.Message
	select {
	case m := <-g.messages:
		batch = append(batch, m)
	case <-g.over.Done():
		return nil
	}
	bytes := len(batch[0].Value)
	enough := time.NewTimer(linger)
	defer enough.Stop()
	for len(batch) < mostEvents && bytes < mostBytes {
		select {
		case m := <-g.messages:
			batch, bytes = append(batch, m), bytes+len(m.Value)
		case <-enough.C:
			return batch
		case <-g.over.Done():
			return batch
		}
	}
	return batch
}

// finish brings a batch behind it: taken, the dead buried, the place committed, in
// this order. It is false when the generation must end; what was not committed
// comes again, to this member or another.
func (g *generation) finish(batch []kafka.Message) bool {
	events, of, dead := sortOut(batch)
	if len(events) > 0 {
		var buried map[string]error
		ok := g.insist(g.taking, func() (err error) {
			buried, err = g.take(g.working, events)
			return err
		})
		if !ok {
			return false
		}
		for i, event := range events {
			if err, is := buried[event.ID]; is {
				dead = append(dead, deceased{of[i], refusal(err)})
			}
		}
	}
	ok := len(dead) == 0 || g.insist(g.burying, func() (err error) {
		dead, err = g.bury(g.working, dead)
		return err
	})
	return ok && g.commit(batch)
}

// insist does something until it has no error. It is false when the generation is
// over first. A first attempt is made even then: there is a grace.
func (g *generation) insist(trouble *failurelog.Outage, do func() error) bool {
	for pause := newBackoff(g.pace.retry); ; {
		err := do()
		trouble.Tell(g.working, err)
		if err == nil {
			return true
		}
		if g.working.Err() != nil || !pause.wait(g.over) {
			return false
		}
	}
}

// commit moves the group's place behind a batch. A coordinator that refuses says
// that this generation is not the last any more, or is out of reach: in both cases
// the member has to join again.
func (g *generation) commit(batch []kafka.Message) bool {
	next := map[int]int64{}
	for _, m := range batch {
		next[m.Partition] = max(next[m.Partition], m.Offset+1)
	}
	if err := g.gen.CommitOffsets(map[string]map[int]int64{g.Topic: next}); err != nil {
		g.metrics.commitFailures.Inc()
		g.Config.Log.DebugContext(g.ctx, "the place in the event log was not committed", "error", err)
		newBackoff(g.pace.retry).wait(g.over) // where it is refused for good, this is no tight loop
		return false
	}
	g.metrics.consumed.Add(float64(len(batch)))
	g.lag.moved(next)
	return true
}
