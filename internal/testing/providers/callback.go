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

// CallbackSender sends callbacks to Config.Callback. As real providers do, it retries a callback that is not
// acknowledged with a status 2xx, up to maxAttempts in total.
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
	attempts  int
}

const (
	maxAttempts   = 20
	retryInterval = 500 * time.Millisecond
)

// Schedule adds `times` callbacks about an order, due at the time `at`. Without Config.Callback it does nothing.
func (s *CallbackSender) Schedule(reference string, at time.Time, times int) {
	if s.config.Callback == "" {
		return
	}
	s.mu.Lock()
	for range times {
		s.due = append(s.due, pendingCallback{reference: reference, at: at})
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sends due callbacks until ctx ends.
func (s *CallbackSender) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(s.SendCallbacks(ctx)):
		case <-s.wake:
		}
	}
}

// idle is how long Run waits for a wake-up if no callback is scheduled.
const idle = time.Hour

// SendCallbacks sends each due callback once, and returns the time until the next is due. A
// callback that is not acknowledged becomes due again, until maxAttempts is reached.
func (s *CallbackSender) SendCallbacks(ctx context.Context) time.Duration {
	for _, c := range s.takeDue() {
		if err := s.send(ctx, c.reference); err != nil && c.attempts+1 < maxAttempts {
			c.attempts++
			c.at = s.config.Now().Add(retryInterval)
			s.mu.Lock()
			s.due = append(s.due, c)
			s.mu.Unlock()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := idle
	for _, c := range s.due {
		next = min(next, c.at.Sub(s.config.Now()))
	}
	return max(0, next)
}

// takeDue returns the due callbacks, and removes them from s.due.
func (s *CallbackSender) takeDue() []pendingCallback {
	s.mu.Lock()
	defer s.mu.Unlock()
	var now []pendingCallback
	s.due = slices.DeleteFunc(s.due, func(c pendingCallback) bool {
		if c.at.After(s.config.Now()) {
			return false
		}
		now = append(now, c)
		return true
	})
	return now
}

// send sends one callback. It returns an error if the callback is not acknowledged.
func (s *CallbackSender) send(ctx context.Context, reference string) error {
	body, err := json.Marshal(s.content(reference))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.config.Callback, bytes.NewReader(body))
	if err != nil {
		return err
	}
	Sign(req.Header, body, s.config.Now())
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
