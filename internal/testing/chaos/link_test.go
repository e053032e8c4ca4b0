package chaos

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"vayu/internal/testing/fixture"
)

// Link is a TCP proxy that can be cut. It forwards the connections of an address to a target.
type Link struct {
	listener net.Listener

	mu     sync.Mutex
	target string
	cut    bool
	open   map[net.Conn]bool
}

// newLink listens on an address; Run forwards connections.
func newLink(ctx context.Context, listen, target string) (*Link, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listening for a link to %s: %w", target, err)
	}
	return &Link{listener: listener, target: target, open: map[net.Conn]bool{}}, nil
}

// Address is the address that accepts connections.
func (l *Link) Address() string { return l.listener.Addr().String() }

// SetTarget changes the target of new connections.
func (l *Link) SetTarget(target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target = target
}

// Cut resets all connections, and all new ones until Restore.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for c := range l.open {
		reset(c)
	}
}

// Restore ends a cut.
func (l *Link) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// Run forwards connections until ctx ends, and then closes all.
func (l *Link) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	stop := context.AfterFunc(ctx, func() {
		_ = l.listener.Close()
		l.Cut()
	})
	defer stop()
	for {
		c, err := l.listener.Accept()
		if err != nil {
			return
		}
		all.Go(func() { l.forward(ctx, c) })
	}
}

// forward forwards one connection to the target, until either end closes it.
func (l *Link) forward(ctx context.Context, near net.Conn) {
	defer l.forget(near)
	target, ok := l.remember(near)
	if !ok {
		return
	}
	far, err := new(net.Dialer).DialContext(ctx, "tcp", target)
	if err != nil {
		reset(near)
		return
	}
	defer l.forget(far)
	if _, ok := l.remember(far); !ok {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, far)
		_ = near.Close()
	})
	_, _ = io.Copy(far, near)
	_ = far.Close()
	back.Wait()
}

// remember registers a connection and returns its target. If the link is cut, it resets the connection.
func (l *Link) remember(c net.Conn) (target string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		reset(c)
		return "", false
	}
	l.open[c] = true
	return l.target, true
}

func (l *Link) forget(c net.Conn) {
	_ = c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// reset closes a connection so that the other end gets an error, not EOF.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// echo sends back what it receives.
func echo(t *testing.T) string {
	t.Helper()
	return fixture.Listen(t, nil, func(c net.Conn) {
		_, _ = io.Copy(c, c)
		_ = c.Close()
	}).Addr().String()
}

// echoed sends a text and reads the echo; an error when the connection is cut.
func echoed(c net.Conn, text string) (string, error) {
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	back := make([]byte, len(text))
	_, err := io.ReadFull(c, back)
	return string(back), err
}

func TestCutAndRestore(t *testing.T) {
	t.Parallel()
	l, err := newLink(t.Context(), "127.0.0.1:0", echo(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx)
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", l.Address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	open := dial()
	if got, err := echoed(open, "hello"); got != "hello" || err != nil {
		t.Fatalf("got %q, %v through an open link", got, err)
	}
	l.Cut()
	if got, err := echoed(open, "hello"); err == nil {
		t.Errorf("got %q through a connection that was cut", got)
	}
	if late, err := net.Dial("tcp", l.Address()); err == nil { // a reset may come before the dial has returned
		if got, err := echoed(late, "hello"); err == nil {
			t.Errorf("got %q through a link that is cut", got)
		}
		_ = late.Close()
	}
	l.Restore()
	l.SetTarget(echo(t))
	last := dial()
	if got, err := echoed(last, "again"); got != "again" || err != nil {
		t.Errorf("got %q, %v through a restored link", got, err)
	}
	end()
	<-done // with a connection open
	if _, err := echoed(last, "late"); err == nil {
		t.Error("a connection is open after its link ended")
	}
}
