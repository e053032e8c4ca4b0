package providers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// CallbackSender sends callbacks to Config.Callback. It retries a callback that is not acknowledged, as
// real providers do.
type CallbackSender struct {
	config  *Config
	content func(reference string) any // current content of a callback
	wake    chan struct{}              // signals a new callback

	mu  sync.Mutex
	due []pendingCallback
}

type pendingCallback struct {
	reference string
	at        time.Time
	tries     int
}

const (
	mostTries = 20
	pause     = 500 * time.Millisecond
)

// Schedule schedules callbacks about a reference at a time; times is the number of callbacks.
func (t *CallbackSender) Schedule(reference string, at time.Time, times int) {
	if t.config.Callback == "" {
		return
	}
	t.mu.Lock()
	for range times {
		t.due = append(t.due, pendingCallback{reference: reference, at: at})
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Run sends due callbacks until ctx ends.
func (t *CallbackSender) Run(ctx context.Context) error {
	for {
		next := t.SendCallbacks(ctx)
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-t.wake:
			timer.Stop()
		}
	}
}

// idle is how long Run waits if no callback is scheduled.
const idle = time.Hour

// SendCallbacks sends each due callback once, and returns the time until the next is due. A
// callback that is not acknowledged becomes due again.
func (t *CallbackSender) SendCallbacks(ctx context.Context) time.Duration {
	for _, one := range t.takeDue() {
		if err := t.send(ctx, one.reference); err != nil && one.tries+1 < mostTries {
			one.tries++
			one.at = t.config.Now().Add(pause)
			t.mu.Lock()
			t.due = append(t.due, one)
			t.mu.Unlock()
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	next := idle
	for _, one := range t.due {
		next = min(next, one.at.Sub(t.config.Now()))
	}
	return max(0, next)
}

// takeDue returns the due callbacks, and removes them from t.due.
func (t *CallbackSender) takeDue() []pendingCallback {
	t.mu.Lock()
	defer t.mu.Unlock()
	var now []pendingCallback
	t.due = slices.DeleteFunc(t.due, func(one pendingCallback) bool {
		if one.at.After(t.config.Now()) {
			return false
		}
		now = append(now, one)
		return true
	})
	return now
}

// send sends one callback. It returns an error if the callback is not acknowledged.
func (t *CallbackSender) send(ctx context.Context, reference string) error {
	body, err := json.Marshal(t.content(reference))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.config.Callback, bytes.NewReader(body))
	if err != nil {
		return err
	}
	Sign(req.Header, body, t.config.Now())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, mostBody)) // keep the connection reusable
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the callback was answered with %d", resp.StatusCode)
	}
	return nil
}
