package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// telling is a callback that is to be sent.
type telling struct {
	reference string
	at        time.Time
	tries     int
}

// A callback that is not taken comes again, as those of real aggregators do for some
// time.
const (
	mostTries = 20
	pause     = 500 * time.Millisecond
)

// tell has callbacks about an order sent at a time.
func (s *Simulator) tell(o *order, at time.Time, times int) {
	if s.Callback == "" {
		return
	}
	for range times {
		s.due = append(s.due, telling{reference: o.Reference, at: at})
	}
	s.nudge()
}

func (s *Simulator) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sends callbacks when they are due, until ctx ends.
func (s *Simulator) Run(ctx context.Context) error {
	for {
		next := s.Tell(ctx)
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-s.wake:
			timer.Stop()
		}
	}
}

// idle is how long nothing is looked at when nothing is due.
const idle = time.Hour

// Tell sends the callbacks that are due, once each, and returns how long it is until
// the next is. One that is not taken becomes due again.
func (s *Simulator) Tell(ctx context.Context) time.Duration {
	for _, t := range s.collect() {
		if err := s.call(ctx, t.reference); err != nil && t.tries+1 < mostTries {
			t.tries++
			t.at = s.Now().Add(pause)
			s.mu.Lock()
			s.due = append(s.due, t)
			s.mu.Unlock()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := idle
	for _, t := range s.due {
		next = min(next, t.at.Sub(s.Now()))
	}
	return max(0, next)
}

// collect takes those that are due.
func (s *Simulator) collect() []telling {
	s.mu.Lock()
	defer s.mu.Unlock()
	var now []telling
	s.due = slices.DeleteFunc(s.due, func(t telling) bool {
		if t.at.After(s.Now()) {
			return false
		}
		now = append(now, t)
		return true
	})
	return now
}

// call sends one callback.
func (s *Simulator) call(ctx context.Context, reference string) error {
	s.mu.Lock()
	said := s.say(s.orders[reference])
	s.mu.Unlock()
	body, err := json.Marshal(said)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Callback, bytes.NewReader(body))
	if err != nil {
		return err
	}
	Sign(req.Header, body, s.Now())
	resp, err := s.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, mostBody)) // so that the connection can be used again
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the callback was answered with %d", resp.StatusCode)
	}
	return nil
}

// Sign puts onto a callback what the simulator's carry.
func Sign(header http.Header, body []byte, now time.Time) {
	stamp := strconv.FormatInt(now.Unix(), 10)
	header.Set("Content-Type", "application/json")
	header.Set("X-Timestamp", stamp)
	header.Set("X-Signature", sign(stamp+"."+string(body)))
}
