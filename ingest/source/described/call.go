package described

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"vayu/ingest/fetch"
	"vayu/internal/sleep"
)

// caller calls the API within the call budget.
type caller struct {
	client *fetch.Client
	budget budget
	clock  func() time.Time
	sleep  Sleep
}

const (
	// maxRefusals is how often a call is repeated after the API refused it because of a
	// limit.
	maxRefusals = 3
	// longestPause is the longest wait that an API can demand. A longer one fails the
	// fetch, so that the failure is visible.
	longestPause = time.Hour
)

func sleepUntil(ctx context.Context, d time.Duration) error {
	if !sleep.For(ctx, d) {
		return context.Cause(ctx)
	}
	return nil
}

// get sends a request. It waits for the budget, and repeats a refused call at the time
// that the API states.
func (c *caller) get(ctx context.Context, r fetch.Request) (*fetch.Reply, error) {
	for refusals := 0; ; refusals++ {
		now, err := c.await(ctx)
		if err != nil {
			return nil, err
		}
		c.budget.spend(now)
		reply, err := c.client.Do(ctx, r)
		if err == nil {
			c.budget.observe(reply.Header, false, now)
			return reply, nil
		}
		failed, ok := errors.AsType[*fetch.StatusError](err)
		if !ok {
			return nil, err
		}
		refused := failed.Status == http.StatusTooManyRequests ||
			failed.Status == http.StatusServiceUnavailable && failed.Header.Get("Retry-After") != ""
		c.budget.observe(failed.Header, refused, now)
		if !refused || refusals == maxRefusals {
			return nil, err
		}
	}
}

// await waits until the budget allows a call, and returns the time of the call.
func (c *caller) await(ctx context.Context) (time.Time, error) {
	now := c.clock()
	at := c.budget.next(now)
	wait := at.Sub(now)
	if wait <= 0 {
		return now, nil
	}
	if deadline, limited := ctx.Deadline(); wait > longestPause && c.budget.blocked.Equal(at) || limited && time.Now().Add(wait).After(deadline) {
		return now, fmt.Errorf("%w: the next call is allowed in %s", errBudget, wait.Round(time.Second))
	}
	return at, c.sleep(ctx, wait)
}
