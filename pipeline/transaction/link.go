package transaction

import (
	"context"
	"errors"
	"slices"
	"time"

	"vayu/internal/workqueue"
	"vayu/schema"
)

// Link is the part of a connection to a provider that every kind of transaction has. A connection embeds it.
type Link struct {
	Name  string // in the store, in metrics, and in the path of callbacks
	World schema.World
	// Timeout bounds one call.
	Timeout time.Duration
	// ResendAfter is the minimum time between sending an order and sending it again, if the provider reports the
	// order as unknown. It must be long enough for a delayed first request to arrive.
	ResendAfter time.Duration
	// Concurrency is the maximum number of calls in flight.
	Concurrency int
	// Available reports whether the provider can be called now. If it is nil, the provider can always be called.
	Available func() bool

	*workqueue.Pool // slots for calls; set by Connect
}

// Linked returns the link to the provider. Every connection that embeds a Link has this method.
func (l *Link) Linked() *Link { return l }

// Connection is the type constraint of a pointer to a connection.
type Connection interface {
	comparable

	Linked() *Link
}

// Connect adds a provider. The function `begin` starts the call of a claimed transaction, and must not block. Names are
// unique across live and sandbox, because the path of a callback has the name only.
func (c *Core[R, P]) Connect(l *Link, begin func(workqueue.Claim[R])) (err error) {
	if slices.ContainsFunc(c.links, func(other *Link) bool { return other.Name == l.Name }) {
		return errors.New("two connections have this name")
	}
	c.links = append(c.links, l)
	l.Pool, err = c.Queue.Add(workqueue.Provider{Name: l.Name, World: l.World, Timeout: l.Timeout, Concurrency: l.Concurrency, Available: l.Available}, begin)
	return err
}

// Connected reports whether a world (live or sandbox) has a connection to a provider.
func (c *Core[R, P]) Connected(world schema.World) bool {
	return slices.ContainsFunc(c.links, func(l *Link) bool { return l.World == world })
}

// Named returns the connection with a name in a world; nil if there is none.
func Named[C Connection](all []C, world schema.World, name string) (none C) {
	for _, conn := range all {
		if l := conn.Linked(); l.World == world && l.Name == name {
			return conn
		}
	}
	return none
}

// Route returns the first available connection of a world for which the function `serves` returns true. If no such
// connection is available, Route returns the first unavailable one and false. If there is none at all, `conn` is nil.
func Route[C Connection](all []C, world schema.World, serves func(C) bool) (conn C, available bool) {
	var none C
	for _, candidate := range all {
		if candidate.Linked().World != world || !serves(candidate) {
			continue
		}
		if candidate.Linked().Pool.IsAvailable() {
			return candidate, true
		}
		if conn == none {
			conn = candidate
		}
	}
	return conn, false
}

// Acquire acquires a slot for the first call of a new transaction, and sets Sent and SentAt of r. For a batch item it
// waits for a free slot, at most for the duration `wait`. If it gets no slot, it changes nothing and returns no lease.
func (c *Core[R, P]) Acquire(ctx context.Context, l *Link, r P, wait time.Duration) (lease workqueue.Lease) {
	b := r.Shared()
	if b.InBatch() && !l.Pool.AcquireWithin(ctx, wait) || !b.InBatch() && !l.Pool.TryAcquire(false) {
		return lease
	}
	lease = c.Queue.NewLease(l.Pool)
	b.Sent, b.SentAt = true, l.Pool.LatestStart(lease)
	return lease
}
