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

	"vayu/ingest/fetch"
	"vayu/internal/sleep"
)

// Caller calls an API within its budget. It is safe for concurrent use.
type Caller struct {
	// Sleep waits between calls. Tests replace it.
	Sleep Sleep

	client *fetch.Client
	clock  func() time.Time

	mu     sync.Mutex
	budget budget
}

const (
	// maxRefusals is how often a call is repeated after the API refused it because of a
	// limit.
	maxRefusals = 3
	// longestPause is the longest wait that an API can demand. A longer one fails the
	// fetch, so that the failure is visible.
	longestPause = time.Hour
)

// Sleep waits for d and returns an error when ctx ends.
type Sleep func(ctx context.Context, d time.Duration) error

// ErrUsedUp means that the budget allows the next call too late for the fetch.
var ErrUsedUp = errors.New("the call budget is used up")

// NewCaller returns a caller whose requests go through a client. A nil sleep waits.
func NewCaller(client *fetch.Client, rule Rule, clock func() time.Time, sleep Sleep) *Caller {
	if sleep == nil {
		sleep = wait
	}
	return &Caller{Sleep: sleep, client: client, clock: clock, budget: budget{rule: rule}}
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

// call sends a request. It waits for the budget, and repeats a refused call at the time
// that the API states. send returns the header of the reply.
func (c *Caller) call(ctx context.Context, send func() (http.Header, error)) error {
	for refusals := 0; ; refusals++ {
		now, err := c.await(ctx)
		if err != nil {
			return err
		}
		header, err := send()
		if err == nil {
			c.observe(header, false, now)
			return nil
		}
		failed, ok := errors.AsType[*fetch.StatusError](err)
		if !ok {
			return err
		}
		refused := refuses(failed.Status, failed.Header)
		c.observe(failed.Header, refused, now)
		if !refused || refusals == maxRefusals {
			return err
		}
	}
}

// refuses reports whether a reply refuses a call because of a limit.
func refuses(status int, header http.Header) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && header.Get("Retry-After") != ""
}

func (c *Caller) observe(h http.Header, refused bool, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.budget.observe(h, refused, now)
}

// await reserves a call, waits until the budget allows it, and returns its time.
func (c *Caller) await(ctx context.Context) (time.Time, error) {
	now := c.clock()
	at, err := c.reserve(ctx, now)
	if err != nil || !at.After(now) {
		return now, err
	}
	return at, c.Sleep(ctx, at.Sub(now))
}

// reserve returns the time of the next allowed call, and counts the call.
func (c *Caller) reserve(ctx context.Context, now time.Time) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.budget.next(now)
	wait := at.Sub(now)
	if deadline, limited := ctx.Deadline(); wait > longestPause && c.budget.blocked.Equal(at) || limited && wait > 0 && time.Now().Add(wait).After(deadline) {
		return at, fmt.Errorf("%w: the next call is allowed in %s", ErrUsedUp, wait.Round(time.Second))
	}
	c.budget.spend(at)
	return at, nil
}
