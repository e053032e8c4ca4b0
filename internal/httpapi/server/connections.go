package server

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Connections configures the limits of open connections of a listener. The zero value limits only
// the total of all clients, and not the connections of one client.
type Connections struct {
	// PerAddress limits the connections of one client address: an IPv4 address, or an IPv6 /64 network. 0 means no
	// limit. The limit does not apply to loopback and to addresses in Proxies, because a proxy at such an address has
	// many clients.
	PerAddress int
	Proxies    []netip.Prefix
	most       int // limit of all connections; 0 for maxConnections
}

// addressBits is the prefix length of the IPv6 networks that count as one client.
const addressBits = 64

// shareOf returns the IPv4 address or the IPv6 network by which the connections of a client are counted. The parameter
// `a` is the client's address. shareOf returns false if the client has no limit.
func (c *Connections) shareOf(a net.Addr) (netip.Addr, bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || c.PerAddress == 0 {
		return netip.Addr{}, false
	}
	at := plain(tcp.AddrPort().Addr())
	if at.IsLoopback() || Proxies(c.Proxies).trust(at) {
		return netip.Addr{}, false
	}
	if at.Is6() {
		network, err := at.WithZone("").Prefix(addressBits)
		return network.Addr(), err == nil
	}
	return at, true
}

// limitedListener limits open connections, as [NewListener] describes. netutil.LimitListener of golang.org/x/net does
// not suffice. At its limit it closes no idle connection, but waits until a connection ends. Its connections also lack
// the method CloseWrite, which net/http needs.
type limitedListener struct {
	net.Listener
	Connections
	closings *prometheus.CounterVec

	mu      sync.Mutex
	open    int
	idle    idleList                  // idle connections of all clients, longest idle first
	clients map[netip.Addr]*clientUse // clients with a limit and at least one connection
	room    chan struct{}             // gets an element when a connection is closed or becomes idle; wakes Accept
	end     sync.Once
	closed  chan struct{}
}

// clientUse holds the number of connections of one client, and a list of its idle connections.
type clientUse struct {
	open int
	idle idleList
}

// Reasons for closing a connection, as labels of the metric.
const (
	closedForShare = "share"   // an idle connection, because its client opened another connection at the client's limit
	closedForRoom  = "room"    // an idle connection, because maxConnections was reached
	closedRefused  = "refused" // a new connection, because its client is at its limit with no idle connection
)

func newLimitedListener(l net.Listener, c Connections, closings *prometheus.CounterVec) *limitedListener {
	if c.most == 0 {
		c.most = maxConnections
	}
	return &limitedListener{
		Listener: l, Connections: c, closings: closings,
		clients: map[netip.Addr]*clientUse{}, room: make(chan struct{}, 1), closed: make(chan struct{}),
	}
}

// Accept waits for a connection that is within the limits. It implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &limitedConn{Conn: raw, listener: l}
		c.share, c.shared = l.shareOf(raw.RemoteAddr())
		for {
			victim, why, took := l.admit(c)
			if victim != nil {
				l.closings.WithLabelValues(why).Inc()
				victim.Conn.Close()
			}
			if took {
				return c, nil
			}
			if victim == c {
				break
			}
			select { // wait, because all connections are active
			case <-l.room:
			case <-l.closed:
				raw.Close()
				return nil, net.ErrClosed
			}
		}
	}
}

// admit counts the new connection c if there is room, or an idle connection can be closed. The result `took` reports
// whether c was counted. `victim` is the connection to close (if any), and `why` is the reason. `victim` is c itself if
// the client of c is at its limit without an idle connection. If c must wait, `took` is false and `victim` is nil.
func (l *limitedListener) admit(c *limitedConn) (victim *limitedConn, why string, took bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	use := l.clients[c.share]
	switch {
	case c.shared && use != nil && use.open >= l.PerAddress:
		if victim, why = use.idle.first, closedForShare; victim == nil {
			return c, closedRefused, false
		}
	case l.open >= l.most:
		if victim, why = l.idle.first, closedForRoom; victim == nil {
			return nil, "", false
		}
	}
	if victim != nil {
		l.remove(victim)
	}
	l.open++
	if c.shared {
		if use = l.clients[c.share]; use == nil {
			use = &clientUse{}
			l.clients[c.share] = use
		}
		use.open++
		c.use = use
	}
	c.counted = true
	c.setIdle(true) // a connection is idle until its first request is read
	return victim, why, true
}

// remove stops counting a connection. The caller holds the listener's lock.
func (l *limitedListener) remove(c *limitedConn) {
	if !c.counted {
		return
	}
	c.setIdle(false)
	c.counted = false
	l.open--
	if c.use != nil {
		if c.use.open--; c.use.open == 0 {
			delete(l.clients, c.share)
		}
	}
	l.signal()
}

func (l *limitedListener) signal() {
	select {
	case l.room <- struct{}{}:
	default:
	}
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.end.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitedConn is a connection of a limitedListener. The listener's lock guards the field `counted` and the fields
// after it.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	share    netip.Addr
	shared   bool
	counted  bool
	idle     bool
	use      *clientUse // nil if the client has no limit
	all, own idleLinks  // links in the idle lists of the listener and of the client
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite closes the sending direction only.
func (c *limitedConn) CloseWrite() error { return closeWrite(c.Conn) }

// uses records whether the connection has a request in flight. A connection without a request is idle.
func (c *limitedConn) uses(active bool) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	if c.counted {
		c.setIdle(!active)
	}
}

// setIdle adds the connection to the lists of idle connections if `idle` is true, and otherwise removes it from them.
// The caller holds the listener's lock.
func (c *limitedConn) setIdle(idle bool) {
	if c.idle == idle {
		return
	}
	c.idle = idle
	if !idle {
		c.listener.idle.remove(c, ofAll)
		if c.use != nil {
			c.use.idle.remove(c, ofClient)
		}
		return
	}
	c.listener.idle.append(c, ofAll)
	if c.use != nil {
		c.use.idle.append(c, ofClient)
	}
	c.listener.signal()
}

// limitedOf returns the limitedConn that a connection of net/http wraps, or nil if it wraps none.
func limitedOf(c net.Conn) *limitedConn {
	for {
		switch inner := c.(type) {
		case *limitedConn:
			return inner
		case *conn:
			c = inner.Conn
		case secureConn:
			c = inner.tls
		case *tls.Conn:
			c = inner.NetConn()
		default:
			return nil
		}
	}
}

// idleList is a linked list of idle connections. Its links are fields of limitedConn, so that the
// start and the end of a request allocate nothing.
type idleList struct{ first, last *limitedConn }

type idleLinks struct{ before, after *limitedConn }

func ofAll(c *limitedConn) *idleLinks { return &c.all }

func ofClient(c *limitedConn) *idleLinks { return &c.own }

func (l *idleList) append(c *limitedConn, of func(*limitedConn) *idleLinks) {
	of(c).before = l.last
	if l.last == nil {
		l.first = c
	} else {
		of(l.last).after = c
	}
	l.last = c
}

func (l *idleList) remove(c *limitedConn, of func(*limitedConn) *idleLinks) {
	links := *of(c)
	if links.before == nil {
		l.first = links.after
	} else {
		of(links.before).after = links.after
	}
	if links.after == nil {
		l.last = links.before
	} else {
		of(links.after).before = links.before
	}
	*of(c) = idleLinks{}
}
