package chaos

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// loopback is the address of all listeners outside a network namespace.
const loopback = "127.0.0.1"

// The ports that freeAddress tries. They are below the ephemeral ports, which the system gives to
// connections, so that a restarted process gets its port again.
const (
	firstPort = 20000
	ports     = 12000
)

// freeAddress returns a host:port on which no process of this machine listens.
func freeAddress(ip string) string {
	for {
		address := net.JoinHostPort(ip, strconv.Itoa(firstPort+rand.IntN(ports)))
		if ip != loopback {
			return address // a new network namespace, in which no process listens
		}
		if listener, err := net.Listen("tcp", address); err == nil { //nolint:noctx // done at once
			_ = listener.Close()
			return address
		}
	}
}

// host returns the host:port of a DSN.
func host(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return ""
	}
	return u.Host
}

// replaceHost returns the DSN with another host.
func replaceHost(dsn, to string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	u.Host = to
	return u.String()
}

// accepts reports whether the address accepts connections.
func accepts(ctx context.Context, address string) bool {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// serve serves h on a free address until the cluster stops, and returns its URL.
func (c *Cluster) serve(h http.Handler) (string, error) {
	address := freeAddress(loopback)
	return "http://" + address + "/", c.serveAt(address, h)
}

func (c *Cluster) serveAt(address string, h http.Handler) error {
	listener, err := new(net.ListenConfig).Listen(c.background, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	c.services.Go(func() { _ = server.Serve(listener) })
	c.services.Go(func() {
		<-c.background.Done()
		_ = server.Close()
	})
	return nil
}
