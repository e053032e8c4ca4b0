package httpapi

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Connections are limits of the connections that a listener holds. The zero value has
// the limit of all connections only.
type Connections struct {
	// PerAddress is how many connections one client address may have: an IPv4 address,
	// or the first 64 bits of an IPv6 one, which are one network. 0 is no limit. It does
	// not hold for Proxies and for loopback, where a proxy of this machine is.
	PerAddress int
	Proxies    []netip.Prefix
	most       int // 0 for maxConnections
}

// addressBits of an IPv6 address name the network of one client.
const addressBits = 64

// shareOf returns what the share of a client is counted by; false for a client that has
// no share.
func (c *Connections) shareOf(a net.Addr) (netip.Addr, bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || c.PerAddress == 0 {
		return netip.Addr{}, false
	}
	at := plain(tcp.AddrPort().Addr())
	if at.IsLoopback() || proxies(c.Proxies).trust(at) {
		return netip.Addr{}, false
	}
	if at.Is6() {
		network, err := at.WithZone("").Prefix(addressBits)
		return network.Addr(), err == nil
	}
	return at, true
}

// limitedListener counts what is open. When there is no room for a connection, it
// closes the one that has been idle for longest: of the same client if the client has
// its share, else of all. golang.org/x/net/netutil's would wait, and hide that a
// connection can be closed in one direction.
type limitedListener struct {
	net.Listener
	Connections
	closings *prometheus.CounterVec

	mu      sync.Mutex
	open    int
	idle    idleList                  // of all, the one that is idle for longest first
	clients map[netip.Addr]*clientUse // that have connections and a share
	room    chan struct{}             // has an element when a connection was closed or became idle
	end     sync.Once
	closed  chan struct{}
}

// clientUse is what one client has open.
type clientUse struct {
	open int
	idle idleList
}

// Why a connection was closed.
const (
	closedForShare = "share"   // idle: its client opened one more
	closedForRoom  = "room"    // idle: there were maxConnections
	closedAtOnce   = "refused" // new: its client has its share, and none of them is idle
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

// Accept implements net.Listener.
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
			select { // every connection is in use
			case <-l.room:
			case <-l.closed:
				raw.Close()
				return nil, net.ErrClosed
			}
		}
	}
}

// admit counts a connection if there is room for it, and returns the connection that is
// to be closed for that; c itself if its client has no room.
func (l *limitedListener) admit(c *limitedConn) (victim *limitedConn, why string, took bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	use := l.clients[c.share]
	switch {
	case c.shared && use != nil && use.open >= l.PerAddress:
		if victim, why = use.idle.first, closedForShare; victim == nil {
			return c, closedAtOnce, false
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
	c.setIdle(true) // until its first request is read
	return victim, why, true
}

// remove stops counting a connection. The caller has the lock.
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

// signal wakes Accept if it waits for room.
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

// limitedConn is a connection that is counted. All but the first three fields belong to
// the lock of the listener.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	share    netip.Addr
	shared   bool
	counted  bool
	idle     bool
	use      *clientUse // nil without a share
	all, own idleLinks  // places in the lists of all and of its client
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite closes one direction.
func (c *limitedConn) CloseWrite() error { return closeWrite(c.Conn) }

// uses notes whether a request of the connection is under way.
func (c *limitedConn) uses(active bool) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	if c.counted {
		c.setIdle(!active)
	}
}

// setIdle puts a connection into the lists of idle ones, or takes it out. The caller has
// the lock.
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

// limitedOf finds the counted connection in one that net/http knows; nil for none.
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

// idleList is a list of connections through their own links, so that a request that
// begins or ends allocates nothing.
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
