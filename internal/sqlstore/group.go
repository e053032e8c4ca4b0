package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

const (
	// groupMost bounds how many changes share a commit: enough for every caller
	// that can wait at once on two cores, small enough that the first waits a few
	// milliseconds.
	groupMost   = 256
	queueLength = 1024
)

// change is one Update that waits for its turn.
type change struct {
	ctx   context.Context //nolint:containedctx // of the caller, while it waits
	do    func(*Tx) error
	taken atomic.Bool   // by the writer, who will do it, or by the caller, who leaves
	begun bool          // do was called
	err   error         // final when done is closed
	done  chan struct{} // closed by the writer
}

// errGroup says that the transaction of a group failed as a whole.
var errGroup = errors.New("the changes were not committed")

// update queues a change and waits for its outcome. It returns when the change
// is done, when ctx ends before its turn, and when the writer has left: after
// that no change is done any more, and those that were done are marked so.
func (s *sqlite) update(ctx context.Context, do func(*Tx) error) error {
	c := &change{ctx: ctx, do: do, done: make(chan struct{})}
	queue := s.queue
	if ofSandbox(ctx) {
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
		if c.taken.CompareAndSwap(false, true) {
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

// outcome is the error of a change that is done; its panic goes on in the caller.
func (c *change) outcome() error {
	if p, ok := errors.AsType[*panicError](c.err); ok {
		panic(p.value)
	}
	return c.err
}

// run is the one writer: it takes every change that waits and commits them
// together.
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

// group is the changes of one commit: the live ones that wait when it begins, and then
// changes of the sandbox, as [group.next] says.
type group struct {
	live    []*change
	sandbox *change // the first of the sandbox, when it was received already
	begun   []*change
}

// waiting is the live changes that wait, behind those that were received.
func (s *sqlite) waiting(received ...*change) []*change {
	for len(received) < groupMost {
		select {
		case next := <-s.queue:
			received = append(received, next)
		default:
			return received
		}
	}
	return received
}

// next returns the change to make next; nil when the group is complete. Live changes
// come first. One change of the sandbox follows in every group, so that the sandbox never
// starves, and more of them only while no live change waits for the commit or for the
// next group. So a live change waits for two changes of the sandbox at most: one that is
// being made, and one in its own group.
func (g *group) next(s *sqlite) *change {
	n := len(g.begun)
	switch {
	case n < len(g.live):
		return g.live[n]
	case n > len(g.live) && (len(g.live) > 0 || len(s.queue) > 0 || n >= groupMost):
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

// commit makes the changes of one group durable and tells their callers.
func (s *sqlite) commit(g *group) {
	ctx := context.Background() // an interrupt would undo the whole group
	err := s.transaction(ctx, g)
	all := g.all()
	if err != nil {
		err = fmt.Errorf("%w: %w", errGroup, err)
		s.db.log.Error("the state store cannot write", "error", err, "changes", len(all))
	} else {
		s.db.metrics.commits.Inc()
	}
	for _, c := range all {
		// A change that refused by itself did so after what it saw: when that is
		// undone, so is its reason.
		if c.err == nil || err != nil && c.begun {
			c.err = err
		}
		close(c.done)
	}
	if err := s.wal.bound(ctx, s.writer); err != nil {
		s.db.log.Warn("the write-ahead log of the state store cannot be emptied", "error", err)
	}
}

// all is every change that was received for the group. When its transaction failed
// early, some were not begun.
func (g *group) all() []*change {
	all := g.begun
	if n := len(all); n < len(g.live) {
		all = append(all, g.live[n:]...)
	}
	if g.sandbox != nil {
		all = append(all, g.sandbox)
	}
	return all
}

// transaction runs the changes in one transaction. Each has a savepoint, so
// that one that fails is undone alone; its error is in its change. The error
// returned is that of all: then nobody's change is there.
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
		// After a full disk or an I/O error SQLite may have ended the transaction
		// by itself, and asks for a ROLLBACK in any case (sqlite.org/lang_transaction.html);
		// a connection that refuses it is replaced.
		if err != nil && exec("ROLLBACK") != nil {
			s.disconnect()
		}
	}()
	for c := g.next(s); c != nil; c = g.next(s) {
		g.begun = append(g.begun, c)
		if !c.taken.CompareAndSwap(false, true) {
			continue
		}
		if c.err = c.ctx.Err(); c.err != nil {
			continue
		}
		if err := exec("SAVEPOINT change"); err != nil {
			return err
		}
		tx := &Tx{ctx: ctx, session: s.writer, db: s.db}
		c.begun = true
		c.err = s.guarded(c.do, tx)
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

// panicError carries a panic of a change from the writer to its caller.
type panicError struct{ value any }

func (p *panicError) Error() string { return fmt.Sprintf("panic in a change: %v", p.value) }

// guarded runs a change, and keeps its panic for its caller. The stack is that
// of the writer, so it is logged here.
func (s *sqlite) guarded(do func(*Tx) error, tx *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.db.log.Error("a change of the state store panicked", "stack", string(debug.Stack()))
			err = &panicError{p}
		}
	}()
	return tx.verdict(do(tx))
}
