package broker

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"
)

const (
	// ClientID identifies this program in logs and metrics of brokers.
	ClientID = "vayu"
	// DialTimeout limits the time to connect to a broker.
	DialTimeout = 5 * time.Second
	// refusedFor is how long a single broker is redialled while it refuses connections. A
	// group member that reconnects within this time keeps its membership. A new member would
	// wait until the session of the old one expires.
	refusedFor  = 4 * time.Second
	redialEvery = 100 * time.Millisecond
)

var errClosed = errors.New("the reader has ended")

// Tracker dials and tracks the connections of a reader. Shut closes all of them, because
// the client of the consumer group may otherwise wait for replies that never come.
type Tracker struct {
	ctx      context.Context
	single   bool // there is only one broker
	security Security

	lock   sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
}

// NewTracker returns a tracker. If single is true, the tracker redials the only broker for a few
// seconds while that broker refuses connections, but not after ctx has ended.
func NewTracker(ctx context.Context, single bool, security Security) *Tracker {
	return &Tracker{ctx: ctx, single: single, security: security, conns: map[net.Conn]struct{}{}}
}

// Dialer returns a dialer whose connections are tracked.
func (d *Tracker) Dialer() *kafka.Dialer {
	return &kafka.Dialer{ClientID: ClientID, Timeout: DialTimeout, DialFunc: d.dial, SASLMechanism: d.security.Login}
}

func (d *Tracker) dial(ctx context.Context, network, address string) (net.Conn, error) {
	for until := time.Now().Add(refusedFor); ; {
		conn, err := d.security.Dial(ctx, network, address)
		if err == nil {
			return d.track(conn)
		}
		if !d.single || !errors.Is(err, syscall.ECONNREFUSED) || time.Now().After(until) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-d.ctx.Done(): // a stop does not wait for the broker
			return nil, err
		case <-time.After(redialEvery):
		}
	}
}

func (d *Tracker) track(conn net.Conn) (net.Conn, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.closed {
		_ = conn.Close() // it was never used
		return nil, errClosed
	}
	d.conns[conn] = struct{}{}
	return &trackedConn{Conn: conn, tracker: d}, nil
}

// Shut closes all connections and rejects new ones.
func (d *Tracker) Shut() {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.closed = true
	for conn := range d.conns {
		_ = conn.Close() // no longer used
	}
	clear(d.conns)
}

// trackedConn is a connection whose Close removes it from its tracker.
type trackedConn struct {
	net.Conn

	tracker *Tracker
}

// Close closes the connection and removes it from its tracker.
func (p *trackedConn) Close() error {
	p.tracker.lock.Lock()
	delete(p.tracker.conns, p.Conn)
	p.tracker.lock.Unlock()
	return p.Conn.Close()
}
