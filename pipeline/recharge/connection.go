package recharge

import (
	"context"
	"errors"
	"slices"
	"time"

	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// connection is a provider with its pool of slots.
type connection struct {
	order.Connection
	*workqueue.Pool
}

func (s *Service) connect(c order.Connection) error {
	if c.Operator == nil {
		return errors.New("the connection has no operator")
	}
	// Names are unique across live and sandbox, because the path of a callback names no world.
	if slices.ContainsFunc(s.connections, func(other *connection) bool { return other.Name == c.Name }) {
		return errors.New("two connections have this name")
	}
	conn := &connection{Connection: c}
	of := workqueue.Provider{Name: c.Name, World: c.World, Timeout: c.Timeout, Concurrency: c.Concurrency, Available: c.Available}
	var err error
	conn.Pool, err = s.Queue.Add(of, func(claim workqueue.Claim[record.Record]) {
		go s.runJob(job{connection: conn, rec: claim.Record, call: nextCall(&claim.Record, claim.First), lease: claim.Lease})
	})
	s.connections = append(s.connections, conn)
	return err
}

// serves reports whether orders of an operator may use this connection. If Operators is nil, the
// connection serves all operators.
func (conn *connection) serves(operator string) bool {
	return conn.Operators == nil || slices.Contains(conn.Operators, operator)
}

// connectionOf returns the connection with a name; nil if there is none.
func (s *Service) connectionOf(world schema.World, name string) *connection {
	for _, conn := range s.connections {
		if conn.World == world && conn.Name == name {
			return conn
		}
	}
	return nil
}

// poolOf returns the pool and the ResendAfter of a connection; nil and 0 if there is none.
func (s *Service) poolOf(world schema.World, name string) (*workqueue.Pool, time.Duration) {
	if conn := s.connectionOf(world, name); conn != nil {
		return conn.Pool, conn.ResendAfter
	}
	return nil, 0
}

// route returns the first connection that serves an operator and is available. If none is
// available, ok is false, and conn is the first connection that serves the operator, or nil.
func (s *Service) route(world schema.World, operator string) (conn *connection, ok bool) {
	for _, candidate := range s.connections {
		if candidate.World != world || !candidate.serves(operator) {
			continue
		}
		if candidate.IsAvailable() {
			return candidate, true
		}
		if conn == nil {
			conn = candidate
		}
	}
	return conn, false
}

// Callbacks returns the callback handlers, by the name of the provider that sends the callbacks.
func (s *Service) Callbacks() map[string]transaction.Callback {
	out := map[string]transaction.Callback{}
	for _, conn := range s.connections {
		if conn.Receiver == nil {
			continue
		}
		out[conn.Name] = transaction.Receive(conn.Receiver, s.Now, func(ctx context.Context, reference string, a order.Answer) error {
			_, err := s.Settle(ctx, conn.World, conn.Name, reference, a, settle.ByCallback+conn.Name)
			return err
		})
	}
	return out
}
