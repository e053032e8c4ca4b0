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

// How connections are made.
const (
	dialTimeout = 5 * time.Second
	// hold is how long a lone broker that refuses connections is knocked at. A
	// member that comes back in time keeps its name in the group; under a new one it
	// would wait for the session of the old one to end.
	hold  = 4 * time.Second
	knock = 100 * time.Millisecond
)

var errShut = errors.New("the reader has ended")

// door is where the connections of a reader go through, so that its end can end
// them all: the group's client waits for answers that may not come.
type door struct {
	ctx    context.Context
	lone   bool // there is one broker
	secure secure

	lock   sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
}

func newDoor(ctx context.Context, lone bool, secure secure) *door {
	return &door{ctx: ctx, lone: lone, secure: secure, conns: map[net.Conn]struct{}{}}
}

func (d *door) dialer() *kafka.Dialer {
	return &kafka.Dialer{ClientID: clientID, Timeout: dialTimeout, DialFunc: d.dial, SASLMechanism: d.secure.login}
}

func (d *door) dial(ctx context.Context, network, address string) (net.Conn, error) {
	for until := time.Now().Add(hold); ; {
		conn, err := d.secure.dial(ctx, network, address)
		if err == nil {
			return d.admit(conn)
		}
		if !d.lone || !errors.Is(err, syscall.ECONNREFUSED) || time.Now().After(until) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-d.ctx.Done(): // leaving does not wait
			return nil, err
		case <-time.After(knock):
		}
	}
}

func (d *door) admit(conn net.Conn) (net.Conn, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.closed {
		_ = conn.Close() // it was never used
		return nil, errShut
	}
	d.conns[conn] = struct{}{}
	return &passed{Conn: conn, door: d}, nil
}

// shut ends every connection and lets no new one through.
func (d *door) shut() {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.closed = true
	for conn := range d.conns {
		_ = conn.Close() // nobody needs it any more
	}
	clear(d.conns)
}

// passed is a connection that its door forgets when it is closed.
type passed struct {
	net.Conn

	door *door
}

// Close ends the connection.
func (p *passed) Close() error {
	p.door.lock.Lock()
	delete(p.door.conns, p.Conn)
	p.door.lock.Unlock()
	return p.Conn.Close()
}
