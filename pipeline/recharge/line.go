package recharge

import (
	"context"
	"errors"
	"slices"

	"vayu/pipeline/upstream"
	"vayu/schema"
)

// line is a connection with its slots.
type line struct {
	Connection
	*upstream.Line
}

// connect adds a connection.
func (s *Service) connect(c Connection) error {
	if c.Operator == nil {
		return errors.New("it has no operator")
	}
	// Also in two worlds: a callback names no world.
	if slices.ContainsFunc(s.lines, func(other *line) bool { return other.Name == c.Name }) {
		return errors.New("two connections have that name")
	}
	l := &line{Connection: c}
	of := upstream.Upstream{Name: c.Name, World: c.World, Timeout: c.Timeout, Concurrency: c.Concurrency, Available: c.Available}
	var err error
	l.Line, err = s.calls.Add(of, func(claim upstream.Claim[Record]) {
		s.start(job{line: l, rec: claim.Record, call: nextCall(&claim.Record, claim.First), lease: claim.Lease})
	})
	s.lines = append(s.lines, l)
	return err
}

// serves reports whether recharges of an operator may go there.
func (l *line) serves(operator string) bool {
	return l.Operators == nil || slices.Contains(l.Operators, operator)
}

// slot takes a slot for a request, when there is one. A record of a batch waits for it as
// long as it would for its outcome.
func (l *line) slot(ctx context.Context, r *Request) bool {
	if r.Item == nil {
		return l.Take(false)
	}
	return l.TakeWithin(ctx, defaultWait)
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
		if candidate.Worth() {
			return candidate, true
		}
		if l == nil {
			l = candidate
		}
	}
	return l, false
}
