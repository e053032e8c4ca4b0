package broker

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"

	"vayu/internal/sleep"
)

const (
	// ClientID identifies this program in logs and metrics of brokers.
	ClientID = "vayu"
	// DialTimeout limits the time to connect to a broker.
	DialTimeout = 5 * time.Second
	// refusedFor is how long the dialer redials a broker that refuses connections. A group member that reconnects
	// within this time keeps its membership. A new member would wait until the session of the old member expires.
	refusedFor  = 4 * time.Second
	redialEvery = 100 * time.Millisecond
)

// GroupDialer returns a dialer for the client of a consumer group. When the context `open` ends, the dialer closes
// all its connections, because the client may otherwise wait for replies that never come.
//
// If a broker refuses connections, the dialer redials the broker for refusedFor, unless the context `redial` ends
// earlier. If `redial` is nil, the dialer does not redial.
func (s Security) GroupDialer(open, redial context.Context) *kafka.Dialer {
	return &kafka.Dialer{ClientID: ClientID, Timeout: DialTimeout, SASLMechanism: s.Login, DialFunc: func(ctx context.Context, network, address string) (net.Conn, error) {
		for until := time.Now().Add(refusedFor); ; {
			conn, err := s.Dial(ctx, network, address)
			if err == nil {
				return groupConn{conn, context.AfterFunc(open, func() { _ = conn.Close() })}, nil
			}
			if redial == nil || !errors.Is(err, syscall.ECONNREFUSED) || time.Now().After(until) ||
				redial.Err() != nil || !sleep.For(ctx, redialEvery) {
				return nil, err
			}
		}
	}}
}

// groupConn is a connection that closes when the dialer's context `open` ends, or when Close is called.
type groupConn struct {
	net.Conn

	forget func() bool // cancels the closing of the connection at the end of `open`
}

// Close implements net.Conn.
func (c groupConn) Close() error {
	c.forget()
	return c.Conn.Close()
}
