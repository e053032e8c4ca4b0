package verify

import (
	"context"
	"errors"
	"slices"

	"vayu/internal/workqueue"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// connection is a Connection with its pool, the limit of concurrent calls.
type connection struct {
	bank.Connection
	*workqueue.Pool
}

// pool returns the pool of a connection; nil if the connection is nil.
func (l *connection) pool() *workqueue.Pool {
	if l == nil {
		return nil
	}
	return l.Pool
}

// connect validates a connection and adds it to the service.
func (s *Service) connect(c bank.Connection) error {
	if c.Bank == nil {
		return errors.New("no bank is set")
	}
	if c.ResendAfter < c.Timeout {
		return errors.New("resend-after is shorter than timeout: a deposit would be sent again while a call is in flight")
	}
	// Names are unique across the live world and the sandbox, because callback paths have no world.
	if slices.ContainsFunc(s.connections, func(other *connection) bool { return other.Name == c.Name }) {
		return errors.New("another connection has the same name")
	}
	l := &connection{Connection: c}
	of := workqueue.Provider{Name: c.Name, World: c.World, Timeout: c.Timeout, Concurrency: c.Concurrency, Available: c.Available}
	var err error
	l.Pool, err = s.Queue.Add(of, func(claim workqueue.Claim[Record]) { s.resume(l, claim) })
	s.connections = append(s.connections, l)
	return err
}

// serves reports whether the connection supports a method.
func (l *connection) serves(method schema.VerificationMethod) bool {
	return l.Methods == nil || slices.Contains(l.Methods, method)
}

// tryAcquire acquires a slot (the right to one call) for a request, if a slot is free. A batch
// record waits for a slot up to itemWait.
func (l *connection) tryAcquire(ctx context.Context, r *request.Request) bool {
	if r.Item == nil {
		return l.TryAcquire(false)
	}
	return l.AcquireWithin(ctx, itemWait)
}

// connectionOf returns the connection of a world with a name; nil for none.
func (s *Service) connectionOf(world schema.World, name string) *connection {
	for _, l := range s.connections {
		if l.World == world && l.Name == name {
			return l
		}
	}
	return nil
}

// Refusals of requests. Nothing is recorded of a refused request.
var (
	errUnserved = &schema.Problem{
		Code: schema.ServiceUnavailable, Field: fieldMethod, Message: "No bank here verifies such accounts. Nothing was recorded.",
	}
	errUnavailable = schema.NewProblem(schema.ServiceUnavailable, "", "Such accounts cannot be verified at the moment. Nothing was recorded; please try again.")
)

// fieldMethod is the field of a refusal if no bank serves the method. A retry is refused, too.
const fieldMethod = "method"

// route returns the first available connection of a world that supports a method. The error is
// errUnserved or errUnavailable.
func (s *Service) route(world schema.World, method schema.VerificationMethod) (*connection, error) {
	err := errUnserved
	for _, l := range s.connections {
		if l.World != world || !l.serves(method) {
			continue
		}
		if l.IsAvailable() {
			return l, nil
		}
		err = errUnavailable
	}
	return nil, err
}

// Callbacks returns the callback handlers of the banks that send callbacks, by the bank's name.
func (s *Service) Callbacks() map[string]transaction.Callback {
	out := map[string]transaction.Callback{}
	for _, l := range s.connections {
		if l.Receiver == nil {
			continue
		}
		out[l.Name] = transaction.Receive(l.Receiver, s.Now, func(ctx context.Context, reference string, a bank.Answer) error {
			_, err := s.Settle(ctx, l.World, l.Name, reference, a, "provider:"+l.Name)
			return err
		})
	}
	return out
}
