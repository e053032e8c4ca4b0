package session

import (
	"context"
	"time"

	"vayu/internal/columnstore/embedded/chdb"
)

// killEvery is the pause between attempts to kill a query. A new query can be missing from the engine's list for a
// moment, and then an attempt has no effect.
const killEvery = 50 * time.Millisecond

// killTime is how long a killed query may run. The engine ends a query between two blocks of rows only, and one block
// can take hours. killTime is shorter than the time that the process has to stop.
const killTime = 3 * time.Second

// Guard kills the session's query when ctx ends, and marks the session as not reusable. Call the returned function
// `stop` before the session is released. After `stop` has returned, Guard kills nothing.
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

// errLeft is the error of a call that has returned while its function still runs.
var errLeft = chdb.NewException(159, "TIMEOUT_EXCEEDED",
	"The query has ended for the client, but its present block of rows still runs: the engine can cancel a query between two blocks only. Until then it occupies a slot")

// call calls a function of the engine. If the query is cancelled and the function does not return within killTime, call
// returns errLeft. Then [Session.Left] is true, the session can only be released, and `end` runs once the function
// returns.
func (s *Session) call(cancelled <-chan struct{}, function func() error, end func(error)) error {
	over := make(chan error, 1)
	go func() { over <- function() }()
	select {
	case err := <-over:
		return err
	case <-cancelled:
	}
	late := time.NewTimer(killTime)
	defer late.Stop()
	select {
	case err := <-over:
		return err
	case <-late.C:
	}
	s.over = make(chan struct{})
	go func() {
		defer close(s.over)
		end(<-over)
	}()
	return errLeft
}

// Left reports whether a call returned before its statement had ended. Such a session is not used again.
func (s *Session) Left() bool { return s.over != nil }

// Query runs a statement and returns its whole result. If a killed statement does not end, Query returns an error
// although the statement still runs.
func (s *Session) Query(query, format string, params []chdb.Param) (chdb.Result, error) {
	var r chdb.Result
	err := s.call(s.killed, func() (err error) {
		r, err = s.Connection.Query(query, format, params)
		return err
	}, func(err error) {
		if err == nil {
			r.Free()
		}
	})
	if s.Left() {
		return chdb.Result{}, err
	}
	return r, err
}

// Insert runs an INSERT. `query` has neither a FORMAT clause nor data. The function `next` returns the data in pieces,
// and an empty piece at the end. If `next` fails, incomplete blocks are not committed. If a killed INSERT does not
// end, Insert returns an error although the INSERT still runs and reads the last piece, which must stay unchanged.
func (s *Session) Insert(query, format string, params []chdb.Param, next func() ([]byte, error)) (chdb.Counters, error) {
	var in *chdb.Insertion
	abort := func(err error) {
		if err == nil {
			in.Abort()
		}
	}
	err := s.call(s.killed, func() (err error) {
		in, err = s.Connection.Insert(query, format, params)
		return err
	}, abort)
	for more := true; err == nil && more; {
		data, failed := next()
		if failed != nil {
			cancelled := make(chan struct{})
			close(cancelled)
			_ = s.call(cancelled, func() error { in.Abort(); return nil }, func(error) {})
			return chdb.Counters{}, failed
		}
		more = len(data) > 0
		err = s.call(s.killed, func() error { more = in.Write(data) && more; return nil }, abort)
	}
	if err != nil {
		return chdb.Counters{}, err
	}
	var n chdb.Counters
	err = s.call(s.killed, func() (err error) { n, err = in.Done(); return err }, func(error) {})
	if err != nil {
		return chdb.Counters{}, err
	}
	return n, nil
}
