package columnstore

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"vayu/internal/columnstore/embedded"
)

// endpoint has the current address of the embedded engine, and records whether the engine is up.
type endpoint struct {
	mu      sync.Mutex
	changed chan struct{} // closed at every change
	access  access
	up      bool
	reason  error // why the engine is not up
	stopped bool  // the engine will never be up again
}

// access is the address and password of the engine. The address may change when the engine starts again.
type access struct {
	address, password string
	own               bool // this process has started the engine
}

func (e *endpoint) set(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
	close(e.changed)
	e.changed = make(chan struct{})
}

// serve records that the engine is up, with its address and password.
func (e *endpoint) serve(a access) { e.set(func() { e.access, e.up, e.reason = a, true, nil }) }

// own reports whether the engine is up and was started by this process.
func (e *endpoint) own() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.up && e.access.own
}

// lose records that the engine is down, until `serve` is called again.
func (e *endpoint) lose(reason error) { e.set(func() { e.up, e.reason = false, reason }) }

// fail records that the engine is down and will not start again.
func (e *endpoint) fail(reason error) {
	e.set(func() { e.up, e.reason, e.stopped = false, reason, true })
}

// stoppedError means that the engine will not start again, so callers must not wait for it.
type stoppedError struct{ reason error }

func (e *stoppedError) Error() string { return e.reason.Error() }
func (e *stoppedError) Unwrap() error { return e.reason }

// wait waits until the engine is up, and returns its address and password.
func (e *endpoint) wait(ctx context.Context) (access, error) {
	a, _, err := e.now(ctx)
	return a, err
}

// now waits until the engine is up. It returns the engine's address and password, and a channel that is closed when the
// endpoint changes.
func (e *endpoint) now(ctx context.Context) (access, <-chan struct{}, error) {
	for {
		e.mu.Lock()
		a, up, reason, stopped, changed := e.access, e.up, e.reason, e.stopped, e.changed
		e.mu.Unlock()
		switch {
		case up:
			return a, changed, nil
		case stopped:
			return access{}, nil, &stoppedError{reason}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return access{}, nil, fmt.Errorf("the ClickHouse engine is not up: %w", reason)
		}
	}
}

// dialTimeout is how long a query waits for a restarting engine. A restart takes about a second.
const dialTimeout = 5 * time.Second

// dial connects to the current engine. If the connection fails, the engine has probably just died. dial then waits
// until the endpoint changes, and tries again. A second attempt is safe, because nothing was sent.
func (e *endpoint) dial(ctx context.Context, _ string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	for {
		a, changed, err := e.now(ctx)
		if err != nil {
			return nil, err
		}
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", a.address)
		if err == nil {
			return conn, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// transport adds user and password to each request, because the engine creates the passwords only at its first start.
type transport struct {
	where   *endpoint
	next    *http.Transport
	analyst string // data directory with the password of the user analyst; "" for the user default
}

// RoundTrip waits up to dialTimeout until the engine is up, and sends a request with the user's password.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), dialTimeout)
	a, err := t.where.wait(ctx)
	cancel()
	if err != nil {
		return nil, err
	}
	user := "default"
	if t.analyst != "" {
		user = "analyst"
		if _, a.password, err = embedded.AnalystAccess(t.analyst); err != nil {
			return nil, err
		}
	}
	r = r.Clone(r.Context())
	r.Header.Set("X-ClickHouse-User", user)
	r.Header.Set("X-ClickHouse-Key", a.password)
	return t.next.RoundTrip(r)
}

// CloseIdleConnections closes idle connections. clickhouse-go calls it when a pool closes.
func (t *transport) CloseIdleConnections() { t.next.CloseIdleConnections() }

// answerTimeout limits the time to the first byte of a result. Config.MaxTime usually ends a query earlier.
const answerTimeout = 24 * time.Hour
