package kafka

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"
)

// Limits of connections.
const (
	dialTimeout = 5 * time.Second
	// refusedFor is how long the only broker is redialled while it refuses connections. A
	// group member that reconnects in time keeps its membership. As a new member it would
	// wait until its old session expires.
	refusedFor  = 4 * time.Second
	redialEvery = 100 * time.Millisecond
)

var errClosed = errors.New("the reader has ended")

// connTracker dials and tracks the connections of a reader. It closes all of them at the
// end, because the client of the consumer group may wait for replies that never come.
type connTracker struct {
	ctx    context.Context
	single bool // there is only one broker
	secure secure

	lock   sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
}

func newConnTracker(ctx context.Context, lone bool, secure secure) *connTracker {
	return &connTracker{ctx: ctx, single: lone, secure: secure, conns: map[net.Conn]struct{}{}}
}

func (d *connTracker) dialer() *kafka.Dialer {
	return &kafka.Dialer{ClientID: clientID, Timeout: dialTimeout, DialFunc: d.dial, SASLMechanism: d.secure.login}
}

func (d *connTracker) dial(ctx context.Context, network, address string) (net.Conn, error) {
	for until := time.Now().Add(refusedFor); ; {
		conn, err := d.secure.dial(ctx, network, address)
		if err == nil {
			return d.track(conn)
		}
		if !d.single || !errors.Is(err, syscall.ECONNREFUSED) || time.Now().After(until) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-d.ctx.Done(): // a stop does not wait
			return nil, err
		case <-time.After(redialEvery):
		}
	}
}

func (d *connTracker) track(conn net.Conn) (net.Conn, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.closed {
		_ = conn.Close() // it was never used
		return nil, errClosed
	}
	d.conns[conn] = struct{}{}
	return &trackedConn{Conn: conn, tracker: d}, nil
}

// shut closes all connections and rejects new ones.
func (d *connTracker) shut() {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.closed = true
	for conn := range d.conns {
		_ = conn.Close() // no longer used
	}
	clear(d.conns)
}

// trackedConn is a connection that removes itself from its tracker.
type trackedConn struct {
	net.Conn

	tracker *connTracker
}

// Close closes the connection and removes it from its tracker.
func (p *trackedConn) Close() error {
	p.tracker.lock.Lock()
	delete(p.tracker.conns, p.Conn)
	p.tracker.lock.Unlock()
	return p.Conn.Close()
}
