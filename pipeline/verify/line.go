package verify

import (
	"context"
	"errors"
	"slices"

	"vayu/pipeline/upstream"
	"vayu/schema"
)

// connection is a connection with its slots.
type connection struct {
	Connection
	*upstream.Line
}

// connect adds a connection.
func (s *Service) connect(c Connection) error {
	if c.Bank == nil {
		return errors.New("it has no bank")
	}
	if c.ResendAfter < c.Timeout {
		return errors.New("a deposit would be asked for again while a call is under way")
	}
	// Also in two worlds: a callback names no world.
	if slices.ContainsFunc(s.connections, func(other *connection) bool { return other.Name == c.Name }) {
		return errors.New("two connections have that name")
	}
	l := &connection{Connection: c}
	of := upstream.Upstream{Name: c.Name, World: c.World, Timeout: c.Timeout, Concurrency: c.Concurrency, Available: c.Available}
	var err error
	l.Line, err = s.queue.Add(of, func(claim upstream.Claim[Record]) { s.resume(l, claim) })
	s.connections = append(s.connections, l)
	return err
}

// serves reports whether a method's verifications may go there.
func (l *connection) serves(method schema.VerificationMethod) bool {
	return l.Methods == nil || slices.Contains(l.Methods, method)
}

// tryAcquire takes a slot for a request, when there is one. A record of a batch waits for it as
// long as it would for its verdict.
func (l *connection) tryAcquire(ctx context.Context, r *Request) bool {
	if r.Item == nil {
		return l.Take(false)
	}
	return l.TakeWithin(ctx, itemWait)
}

// connectionOf is the connection of a name; nil for none.
func (s *Service) connectionOf(world schema.World, name string) *connection {
	for _, l := range s.connections {
		if l.World == world && l.Name == name {
			return l
		}
	}
	return nil
}

// Refusals after which nothing is recorded.
var (
	errUnserved = &schema.Problem{
		Code: schema.ServiceUnavailable, Field: fieldMethod, Message: "Nobody verifies such accounts here. Nothing was recorded.",
	}
	errUnavailable = schema.Refuse(schema.ServiceUnavailable, "", "Such accounts cannot be verified at the moment. Nothing was recorded; please try again.")
)

// fieldMethod marks the refusal that the same request meets again.
const fieldMethod = "method"

// route is the first connection that has a method and is available. The error is a
// refusal.
func (s *Service) route(world schema.World, method schema.VerificationMethod) (*connection, error) {
	err := errUnserved
	for _, l := range s.connections {
		if l.World != world || !l.serves(method) {
			continue
		}
		if l.Worth() {
			return l, nil
		}
		err = errUnavailable
	}
	return nil, err
}
