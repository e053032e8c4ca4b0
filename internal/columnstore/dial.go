package columnstore

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
)

// maxHostTimeout limits the wait for each host but the last of the DSN, so that the next host is tried soon.
const maxHostTimeout = 3 * time.Second

// limitDial makes clickhouse-go's attempts to connect end with the caller's context. Without limitDial, clickhouse-go
// waits 30 s for a host that does not answer. The context would then end before the next host is tried.
func limitDial(options *clickhouse.Options) {
	options.DialStrategy = dialInTurn
	if options.Protocol != clickhouse.Native {
		return // over HTTP, net/http observes the context
	}
	var dialer interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{}
	if options.TLS != nil {
		dialer = &tls.Dialer{Config: options.TLS}
	}
	options.DialContext = func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		return newHandshakeConn(ctx, conn), nil
	}
}

// dialInTurn tries the hosts in clickhouse-go's order. If ctx has a deadline, each host but the last gets an equal
// share of the remaining time, at most maxHostTimeout.
func dialInTurn(ctx context.Context, id int, options *clickhouse.Options, dial clickhouse.Dial) (clickhouse.DialResult, error) {
	left := len(options.Addr)
	return clickhouse.DefaultDialStrategy(ctx, id, options, func(ctx context.Context, address string, options *clickhouse.Options) (clickhouse.DialResult, error) {
		if end, ok := ctx.Deadline(); ok && left > 1 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, min(time.Until(end)/time.Duration(left), maxHostTimeout))
			defer cancel()
		}
		left--
		return dial(ctx, address, options)
	})
}

// handshakeConn is a connection. During the handshake of client and server, its deadline is never later than the
// deadline of the caller's context. The handshake is over when clickhouse-go clears the deadline that it has set.
type handshakeConn struct {
	net.Conn

	mu  sync.Mutex
	end time.Time // zero for none, and after the handshake
}

func newHandshakeConn(ctx context.Context, conn net.Conn) *handshakeConn {
	end, _ := ctx.Deadline()
	return &handshakeConn{Conn: conn, end: end}
}

// SetDeadline sets t or the caller's deadline, whichever is earlier. A zero t ends the handshake and removes both
// deadlines.
func (g *handshakeConn) SetDeadline(t time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case t.IsZero():
		g.end = t
	case !g.end.IsZero() && g.end.Before(t):
		t = g.end
	}
	return g.Conn.SetDeadline(t)
}
