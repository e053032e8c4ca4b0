package budget

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/internal/sleep"
)

// Caller calls an API within its call budget. It is safe for concurrent use.
type Caller struct {
	// Sleep waits for the next allowed call. Tests replace it.
	Sleep Sleep

	client *fetch.Client
	clock  func() time.Time

	mu     sync.Mutex
	budget budget
	store  Store // nil if the budget is only in memory
}

// Store stores the state of a budget. Processes share it, and it survives a restart.
type Store interface {
	// Update replaces the state by the result of the function `change`. If `change` fails, the state stays. Updates do
	// not overlap. `now` is the time of the store's clock. `state` is empty before the first update.
	Update(ctx context.Context, change func(state []byte, now time.Time) ([]byte, error)) error
}

const (
	// maxRefusals is how often a call is retried if the API refuses it because of a limit.
	maxRefusals = 3
	// longestPause is the maximum time that a fetch waits because the API demands a pause. If the API demands a longer
	// pause, the fetch fails, so that an operator notices the pause.
	longestPause = time.Hour
)

// Sleep waits for d. It returns an error if ctx ends first.
type Sleep func(ctx context.Context, d time.Duration) error

// ErrUsedUp means that the next call is allowed only after the deadline of the fetch, or that the API demands a pause
// longer than longestPause.
var ErrUsedUp = errors.New("the call budget is used up")

// NewCaller returns a caller that sends its requests with `client`. If `sleep` is nil, the caller waits in real time.
// If `store` is nil or `rule` limits no calls, the budget is only in memory.
func NewCaller(client *fetch.Client, rule Rule, store Store, clock func() time.Time, sleep Sleep) *Caller {
	if sleep == nil {
		sleep = wait
	}
	c := &Caller{Sleep: sleep, client: client, clock: clock, budget: budget{rule: rule}}
	if rule.limited() {
		c.store = store
	}
	return c
}

// update calls `change` with the stored budget and the time of the store's clock, and stores the changed budget. If
// there is no store, `change` gets the budget in memory and the time of c.clock.
func (c *Caller) update(ctx context.Context, change func(b *budget, now time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.store == nil {
		return change(&c.budget, c.clock())
	}
	return c.store.Update(ctx, func(state []byte, now time.Time) ([]byte, error) {
		b := budget{rule: c.budget.rule}
		b.decode(state)
		if err := change(&b, now); err != nil {
			return nil, err
		}
		return b.encode()
	})
}

func wait(ctx context.Context, d time.Duration) error {
	if !sleep.For(ctx, d) {
		return context.Cause(ctx)
	}
	return nil
}

// Get implements [storage.Client].
func (c *Caller) Get(ctx context.Context, r fetch.Request) (*fetch.Reply, error) {
	var reply *fetch.Reply
	err := c.call(ctx, func() (http.Header, error) {
		var err error
		if reply, err = c.client.Do(ctx, r); err != nil {
			return nil, err
		}
		return reply.Header, nil
	})
	return reply, err
}

// Download implements [storage.Client].
func (c *Caller) Download(ctx context.Context, r fetch.Request, to *os.File, limit int64) (reply *fetch.Reply, modified bool, err error) {
	err = c.call(ctx, func() (http.Header, error) {
		if _, err := to.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		if err := to.Truncate(0); err != nil {
			return nil, err
		}
		var err error
		if reply, modified, err = c.client.Download(ctx, r, to, limit); err != nil {
			return nil, err
		}
		return reply.Header, nil
	})
	return reply, modified, err
}

// call sends a request with the function `send` when the budget allows it. If the API refuses it because of a limit,
// call retries it at the time that the API states, at most maxRefusals times. `send` returns the header of the reply.
func (c *Caller) call(ctx context.Context, send func() (http.Header, error)) error {
	for refusals := 0; ; refusals++ {
		if err := c.await(ctx); err != nil {
			return err
		}
		header, err := send()
		if err == nil {
			return c.observe(ctx, header, false)
		}
		failed, ok := errors.AsType[*fetch.StatusError](err)
		if !ok {
			return err
		}
		refused := refuses(failed.Status, failed.Header)
		if noted := c.observe(ctx, failed.Header, refused); noted != nil || !refused || refusals == maxRefusals {
			return errors.Join(err, noted)
		}
	}
}

// refuses reports whether the API has refused a call because of a limit.
func refuses(status int, header http.Header) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && header.Get("Retry-After") != ""
}

// observe updates the budget if a reply means that calls are blocked for some time. Most replies do not. For them,
// observe does not access the store.
func (c *Caller) observe(ctx context.Context, h http.Header, refused bool) error {
	var stated budget
	stated.rule = c.budget.rule
	if stated.observe(h, refused, c.clock()); stated.blocked.IsZero() {
		return nil
	}
	return c.update(ctx, func(b *budget, now time.Time) error {
		b.observe(h, refused, now)
		return nil
	})
}

// await reserves a call in the budget and sleeps until its time. If the sleep is too long, it fails with [ErrUsedUp].
func (c *Caller) await(ctx context.Context) error {
	var left time.Duration
	err := c.update(ctx, func(b *budget, now time.Time) error {
		at := b.next(now, ingest.Background(ctx))
		left = at.Sub(now)
		if deadline, limited := ctx.Deadline(); left > longestPause && b.blocked.Equal(at) || limited && left > 0 && time.Now().Add(left).After(deadline) {
			return fmt.Errorf("%w: the next call is allowed in %s", ErrUsedUp, left.Round(time.Second))
		}
		b.spend(at, now)
		return nil
	})
	if err != nil || left <= 0 {
		return err
	}
	return c.Sleep(ctx, left)
}
