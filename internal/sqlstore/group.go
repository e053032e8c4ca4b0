package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"vayu/internal/panics"
	"vayu/schema"
)

const (
	// maxGroup is the maximum number of changes in one commit. SQLite may add one sandbox change. In measurements on
	// two cores, at most 256 callers waited at once. A group of this size adds only a few milliseconds of latency.
	maxGroup    = 256
	queueLength = 1024
)

// change is a call of Update that waits for the writer (SQLite) or for the transaction of its group (PostgreSQL).
type change struct {
	ctx     context.Context //nolint:containedctx // of the caller, while it waits
	do      func(*Tx) error
	claimed atomic.Bool   // set before the change runs, or by a caller that gives up, whichever is first
	started bool          // the writer has called `do`
	err     error         // result of the change; final when done is closed
	done    chan struct{} // closed after the transaction of the change has ended
}

// errGroup means that the transaction of a group failed as a whole.
var errGroup = errors.New("the changes were not committed")

// update queues a change and returns its result. If ctx ends before the change starts, update returns the error of
// ctx. If the writer stops first, update returns errEnded. In both cases the change was not made.
func (s *sqlite) update(ctx context.Context, do func(*Tx) error) error {
	c := &change{ctx: ctx, do: do, done: make(chan struct{})}
	queue := s.queue
	if WorldOf(ctx) != schema.Live {
		queue = s.sandbox
	}
	select {
	case queue <- c:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.db.ended:
		return errEnded
	}
	select {
	case <-c.done:
		return c.outcome()
	case <-ctx.Done():
		if c.claimed.CompareAndSwap(false, true) {
			return ctx.Err()
		}
	case <-s.db.ended:
	}
	select {
	case <-c.done:
		return c.outcome()
	case <-s.db.ended:
	}
	select {
	case <-c.done:
		return c.outcome()
	default:
		return errEnded
	}
}

// outcome returns the error of a finished change. If the change panicked, outcome panics with the same value.
func (c *change) outcome() error {
	if p, ok := errors.AsType[*panics.Error](c.err); ok {
		panic(p.Value)
	}
	return c.err
}

// run is the loop of the only writer. It commits the queued changes in groups.
func (s *sqlite) run(ctx context.Context) error {
	defer s.close()
	defer s.db.end()
	for {
		select {
		case first := <-s.queue:
			s.commit(&group{live: s.waiting(first)})
		case first := <-s.sandbox:
			s.commit(&group{live: s.waiting(), sandbox: first})
		case <-ctx.Done():
			return nil
		}
	}
}

// group is the changes of one commit: first the queued changes of the live world, then changes of the sandbox.
// The sandbox is the world of test keys. [group.next] decides how many of the sandbox's changes a group has.
type group struct {
	live    []*change
	sandbox *change // first change of the sandbox, if already received
	started []*change
}

// waiting returns the received changes, and then queued changes of the live world, at most maxGroup in all.
func (s *sqlite) waiting(received ...*change) []*change {
	for len(received) < maxGroup {
		select {
		case next := <-s.queue:
			received = append(received, next)
		default:
			return received
		}
	}
	return received
}

// next returns the next change to run, or nil when the group is complete. Changes of the live world come first. If the
// sandbox has queued changes, every group includes one of them, so that the sandbox always progresses. A group includes
// more sandbox changes only while neither the group nor the queue has a live change. A live change therefore waits for
// at most two changes of the sandbox: the running one, and one in its own group.
func (g *group) next(s *sqlite) *change {
	n := len(g.started)
	switch {
	case n < len(g.live):
		return g.live[n]
	case n > len(g.live) && (len(g.live) > 0 || len(s.queue) > 0 || n >= maxGroup):
		return nil
	}
	if first := g.sandbox; first != nil {
		g.sandbox = nil
		return first
	}
	select {
	case next := <-s.sandbox:
		return next
	default:
		return nil
	}
}

// commit runs and commits the changes of one group, and wakes their callers.
func (s *sqlite) commit(g *group) {
	ctx := context.Background() // not a caller's context: an interrupt would undo the whole group
	err := s.transaction(ctx, g)
	all := g.all()
	if err != nil {
		err = fmt.Errorf("%w: %w", errGroup, err)
		s.db.log.Error("the state store cannot write", "error", err, "changes", len(all))
	} else {
		s.db.metrics.commits.Inc()
	}
	for _, c := range all {
		// A change may have failed because of rows that another change of this group wrote. If the group is
		// rolled back, those rows do not exist. So the error of the group replaces the error of the change.
		if c.err == nil || err != nil && c.started {
			c.err = err
		}
		close(c.done)
	}
	if err := s.wal.Bound(ctx, s.writer); err != nil {
		s.db.log.Warn("the write-ahead log of the state store cannot be emptied", "error", err)
	}
}

// all returns every change that the group has received, also those that an early failure kept from starting.
func (g *group) all() []*change {
	all := g.started
	if n := len(all); n < len(g.live) {
		all = append(all, g.live[n:]...)
	}
	if g.sandbox != nil {
		all = append(all, g.sandbox)
	}
	return all
}

// transaction runs the changes in one transaction. Each change has a savepoint, so that its failure undoes only this
// change. The field err of the change then has the error. If transaction returns an error, no change was committed.
func (s *sqlite) transaction(ctx context.Context, g *group) (err error) {
	if s.writer == nil {
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	exec := func(statement string) error {
		_, err := s.writer.ExecContext(ctx, statement)
		return err
	}
	if err := exec("BEGIN IMMEDIATE"); err != nil {
		s.disconnect()
		return err
	}
	defer func() {
		// Always send ROLLBACK, because the error may have left the transaction open. ROLLBACK may fail if SQLite
		// has already ended the transaction. A connection on which ROLLBACK fails is replaced.
		if err != nil && exec("ROLLBACK") != nil {
			s.disconnect()
		}
	}()
	for c := g.next(s); c != nil; c = g.next(s) {
		g.started = append(g.started, c)
		if !c.claimed.CompareAndSwap(false, true) {
			continue
		}
		if c.err = c.ctx.Err(); c.err != nil {
			continue
		}
		if err := exec("SAVEPOINT change"); err != nil {
			return err
		}
		tx := &Tx{ctx: ctx, session: s.writer, db: s.db, unit: &unit{}}
		c.started = true
		c.err = s.runRecovered(c.do, tx)
		if tx.broken != nil {
			return tx.broken
		}
		if c.err != nil {
			if err := exec("ROLLBACK TO change"); err != nil {
				return err
			}
		}
		if err := exec("RELEASE change"); err != nil {
			return err
		}
	}
	return exec("COMMIT")
}

// runRecovered runs a change and returns a panic as an error. [change.outcome] then panics with the same value in
// the goroutine that requested the change. The stack of that goroutine does not show where the change panicked,
// so the log gets the writer's stack.
func (s *sqlite) runRecovered(do func(*Tx) error, tx *Tx) error {
	err := panics.Catch(func() error { return tx.run(do) })
	if p, ok := errors.AsType[*panics.Error](err); ok {
		s.db.log.Error("a change of the state store panicked", "panic", p)
	}
	return err
}
