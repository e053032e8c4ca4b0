package columnstore

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
)

// mostOfAHost is how long one of several hosts is waited for.
const mostOfAHost = 3 * time.Second

// bounded makes clickhouse-go end its attempts at a connection with the context of whoever
// waits for it: by itself it waits 30 s for the greeting of a host that swallows
// everything, and asks the next one when nobody waits any more.
func bounded(options *clickhouse.Options) {
	options.DialStrategy = inTurn
	if options.Protocol != clickhouse.Native {
		return // net/http knows contexts
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
		return newGreeting(ctx, conn), nil
	}
}

// inTurn asks hosts as clickhouse-go does, each for its share of the time that there is.
func inTurn(ctx context.Context, id int, options *clickhouse.Options, dial clickhouse.Dial) (clickhouse.DialResult, error) {
	left := len(options.Addr)
	return clickhouse.DefaultDialStrategy(ctx, id, options, func(ctx context.Context, address string, options *clickhouse.Options) (clickhouse.DialResult, error) {
		if end, ok := ctx.Deadline(); ok && left > 1 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, min(time.Until(end)/time.Duration(left), mostOfAHost))
			defer cancel()
		}
		left--
		return dial(ctx, address, options)
	})
}

// greeting is a connection on which client and server greet each other. Until that is
// over, which clickhouse-go says by taking its own deadline away, no deadline is later
// than that of who waits.
type greeting struct {
	net.Conn

	mu  sync.Mutex
	end time.Time // zero for none, and when the greeting is over
}

func newGreeting(ctx context.Context, conn net.Conn) *greeting {
	end, _ := ctx.Deadline()
	return &greeting{Conn: conn, end: end}
}

// SetDeadline implements net.Conn.
func (g *greeting) SetDeadline(t time.Time) error {
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
