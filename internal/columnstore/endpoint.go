package columnstore

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// endpoint is where the embedded engine is reached at the moment.
type endpoint struct {
	mu      sync.Mutex
	changed chan struct{} // closed at every change
	access  access
	up      bool
	reason  error // why it is not up
	stopped bool  // it never will be again
}

// access is what one start of the engine is reached by.
type access struct {
	address, password string
	own               bool // this process has started it
}

func newEndpoint() *endpoint {
	return &endpoint{changed: make(chan struct{}), reason: fmt.Errorf("the engine has not been started")}
}

func (e *endpoint) set(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
	close(e.changed)
	e.changed = make(chan struct{})
}

// serve publishes a working engine.
func (e *endpoint) serve(a access) { e.set(func() { e.access, e.up, e.reason = a, true, nil }) }

// own reports whether the engine that is up is this process's.
func (e *endpoint) own() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.up && e.access.own
}

// lose says that the engine is away for now.
func (e *endpoint) lose(reason error) { e.set(func() { e.up, e.reason = false, reason }) }

// fail says that the engine is away for good.
func (e *endpoint) fail(reason error) {
	e.set(func() { e.up, e.reason, e.stopped = false, reason, true })
}

// stoppedError says that waiting is useless.
type stoppedError struct{ reason error }

func (e *stoppedError) Error() string { return e.reason.Error() }
func (e *stoppedError) Unwrap() error { return e.reason }

// wait returns where the engine is as soon as it is up.
func (e *endpoint) wait(ctx context.Context) (access, error) {
	a, _, err := e.now(ctx)
	return a, err
}

// now is wait, with a channel that is closed at the next change.
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

// dialPatience is how long a query waits for an engine that is being started again: a restart takes about a second.
const dialPatience = 5 * time.Second

// dial connects to wherever the engine is now. An address that refuses belongs to an engine that has just died: dial
// waits for the next one, which is safe because nothing was sent.
func (e *endpoint) dial(ctx context.Context, _ string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialPatience)
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

// transport adds the password, which is known only after the engine's first start.
type transport struct {
	where *endpoint
	next  *http.Transport
}

// RoundTrip sends one request with the credentials of the engine that is up.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), dialPatience)
	a, err := t.where.wait(ctx)
	cancel()
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("X-ClickHouse-User", "default")
	r.Header.Set("X-ClickHouse-Key", a.password)
	return t.next.RoundTrip(r)
}

// CloseIdleConnections lets clickhouse-go give its sockets back.
func (t *transport) CloseIdleConnections() { t.next.CloseIdleConnections() }

// answerPatience is how long a query may run before its first byte. The engine's own limits are the ones that matter.
const answerPatience = 24 * time.Hour
