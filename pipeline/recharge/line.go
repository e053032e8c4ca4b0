package recharge

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"vayu/schema"
)

// line is a connection with its slots. One slot is one call at a time, and the
// goroutine that makes it; a recharge without one waits in the store.
type line struct {
	Connection

	// batchMost is how many slots records of batches may have: half, so that single
	// recharges always find some.
	batchMost int
	// kept is how many slots are for what waits in the store, when something does:
	// requests that come in must not starve it.
	kept int
	wake chan struct{} // holds one: its loop should look now

	// Of Service.mu.
	busy, batches int
	hungry        [2]bool   // more is due than there was room for: single ones, and records of batches
	next          time.Time // when its loop looks next; zero while it looks
}

func newLine(c Connection) (*line, error) {
	var err error
	switch {
	case c.Operator == nil:
		err = errors.New("it has no operator")
	case c.Timeout <= 0:
		err = errors.New("its calls have no timeout")
	case c.Concurrency < 1:
		err = errors.New("it has no room for a call")
	}
	if err != nil {
		return nil, fmt.Errorf("connecting %s: %w", c.Name, err)
	}
	return &line{Connection: c, batchMost: max(1, c.Concurrency/2), kept: max(1, c.Concurrency/4), wake: make(chan struct{}, 1)}, nil
}

// serves reports whether recharges of an operator may go there.
func (l *line) serves(operator string) bool {
	return l.Operators == nil || slices.Contains(l.Operators, operator)
}

// available reports whether it is worth asking at the moment.
func (l *line) available() (worth bool) {
	if l.Available == nil {
		return true
	}
	defer func() {
		if recover() != nil { // who cannot even say so is not
			worth = false
		}
	}()
	return l.Available()
}

// nudge lets its loop look now.
func (l *line) nudge() {
	select {
	case l.wake <- struct{}{}:
	default: // it has been told
	}
}

// lineOf is the connection of a name; nil for none.
func (s *Service) lineOf(world schema.World, name string) *line {
	for _, l := range s.lines {
		if l.World == world && l.Name == name {
			return l
		}
	}
	return nil
}

// route is the connection by which an operator is reached: the first that serves it
// and is available. When none is, it is the first that serves it, and ok is false;
// nil when none does.
func (s *Service) route(world schema.World, operator string) (l *line, ok bool) {
	for _, candidate := range s.lines {
		if candidate.World != world || !candidate.serves(operator) {
			continue
		}
		if candidate.available() {
			return candidate, true
		}
		if l == nil {
			l = candidate
		}
	}
	return l, false
}

// take takes a slot; false when there is none, or the service stops. Who has one
// must give it back.
func (s *Service) take(l *line, batch bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch { // what has waited longer comes first
	case batch && l.hungry[1], l.hungry[0] && l.Concurrency-l.busy <= l.kept:
		return false
	}
	return s.grab(l, batch)
}

// grab is take for what has waited. The caller holds mu.
func (s *Service) grab(l *line, batch bool) bool {
	if s.stopped || l.busy >= l.Concurrency || batch && l.batches >= l.batchMost {
		return false
	}
	l.busy++
	if batch {
		l.batches++
	}
	s.attempts.Add(1)
	return true
}

// give gives a slot back.
func (s *Service) give(l *line, batch bool) {
	s.mu.Lock()
	l.busy--
	if batch {
		l.batches--
	}
	starved := l.hungry[0] || l.hungry[1] && l.batches < l.batchMost // there is room now
	s.mu.Unlock()
	s.attempts.Done()
	if starved {
		l.nudge()
	}
}

// due tells a line's loop of something that is due at a time.
func (s *Service) due(l *line, at time.Time) {
	s.mu.Lock()
	early := at.Before(l.next) || l.next.IsZero()
	s.mu.Unlock()
	if early {
		l.nudge()
	}
}
