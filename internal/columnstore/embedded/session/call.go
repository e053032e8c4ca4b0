package session

import (
	"context"
	"time"

	"vayu/internal/columnstore/embedded/chdb"
)

// codeTimeout is the code of TIMEOUT_EXCEEDED.
const codeTimeout = 159

// killEvery is the pause between attempts to kill a query. A new query can be missing from the engine's list for a
// moment, and then an attempt has no effect.
const killEvery = 50 * time.Millisecond

// killTime is how long a killed query may run. The engine ends a query between two blocks of rows only, and one block
// can take hours. It is shorter than the time that the process has to stop.
const killTime = 3 * time.Second

// Guard kills the session's query when ctx ends. Call stop before the session is released. After stop has
// returned, Guard kills nothing.
func (s *Session) Guard(ctx context.Context) (stop func()) {
	over, gone := make(chan struct{}), make(chan struct{})
	s.killed = make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-over:
			return
		case <-ctx.Done():
		}
		s.End()
		close(s.killed)
		tick := time.NewTicker(killEvery)
		defer tick.Stop()
		for {
			s.pool.kill(s.mark)
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(over); <-gone }
}

// call calls a function of the engine. If the query is cancelled and the function does not return within killTime, call
// leaves it and returns an error. Then [Session.Left] is true, and the session can only be released. end runs after a
// function that was left has returned.
func (s *Session) call(cancelled <-chan struct{}, function, end func()) error {
	over := make(chan struct{})
	go func() {
		defer close(over)
		function()
	}()
	select {
	case <-over:
		return nil
	case <-cancelled:
	}
	late := time.NewTimer(killTime)
	defer late.Stop()
	select {
	case <-over:
		return nil
	case <-late.C:
	}
	s.over = make(chan struct{})
	go func() {
		defer close(s.over)
		<-over
		end()
	}()
	return errLeft()
}

func errLeft() error {
	return chdb.NewException(codeTimeout, "TIMEOUT_EXCEEDED",
		"The query has ended for the client, but its present block of rows still runs: the engine can cancel a query between two blocks only. Until then it occupies a slot")
}

// Left reports whether a call has returned while its statement runs.
func (s *Session) Left() bool { return s.over != nil }

// Query runs a statement and returns its whole result. If the statement is killed and does not end, Query returns an
// error while the statement runs.
func (s *Session) Query(query, format string, params []chdb.Param) (chdb.Result, error) {
	var r chdb.Result
	var err error
	left := s.call(s.killed, func() { r, err = s.Connection.Query(query, format, params) }, func() {
		if err == nil {
			r.Free()
		}
	})
	if left != nil {
		return chdb.Result{}, left
	}
	return r, err
}

// Insertion is a running INSERT of a session. It must be ended with Done or Abort. If the INSERT is killed and a call of
// the engine does not end, its methods return an error while the INSERT runs. They do nothing afterwards.
type Insertion struct {
	of *Session
	in *chdb.Insertion
}

// Insert starts an INSERT whose data is appended in pieces. query has neither a FORMAT clause nor data.
func (s *Session) Insert(query, format string, params []chdb.Param) (*Insertion, error) {
	i := &Insertion{of: s}
	var err error
	left := s.call(s.killed, func() { i.in, err = s.Connection.Insert(query, format, params) }, func() {
		if err == nil {
			i.in.Abort()
		}
	})
	if left != nil {
		return nil, left
	}
	return i, err
}

// Write appends data to the INSERT. Write blocks while the engine is behind. If [Session.Left] is true afterwards, data
// must not be changed.
func (i *Insertion) Write(data []byte) error {
	if i.of.Left() {
		return errLeft()
	}
	var err error
	if left := i.of.call(i.of.killed, func() { err = i.in.Write(data) }, i.in.Abort); left != nil {
		return left
	}
	return err
}

// Done commits the INSERT. It returns how much was written, or the error of the INSERT.
func (i *Insertion) Done() (n chdb.Counters, err error) {
	if i.of.Left() {
		return n, errLeft()
	}
	var written chdb.Counters
	var failed error
	if left := i.of.call(i.of.killed, func() { written, failed = i.in.Done() }, func() {}); left != nil {
		return n, left
	}
	return written, failed
}

// Abort cancels the INSERT. Incomplete blocks are not committed.
func (i *Insertion) Abort() {
	if i.of.Left() {
		return
	}
	cancelled := make(chan struct{})
	close(cancelled)
	_ = i.of.call(cancelled, i.in.Abort, func() {}) // Left reports it
}
