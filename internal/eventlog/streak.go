package eventlog

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// streak says once that something goes wrong, and once that it is over.
type streak struct {
	log       *slog.Logger
	bad, good string

	lock  sync.Mutex
	since time.Time
}

func (s *streak) begin(ctx context.Context, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.since.IsZero() {
		s.since = time.Now()
		s.log.WarnContext(ctx, s.bad, "error", err) //nolint:sloglint // one of a few texts, fixed where the streak is made
	}
}

func (s *streak) end(ctx context.Context) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if !s.since.IsZero() {
		s.log.InfoContext(ctx, s.good, "after", time.Since(s.since).Round(time.Millisecond)) //nolint:sloglint // as above
		s.since = time.Time{}
	}
}

// backoff is a pause that doubles up to retryMost.
type backoff struct{ next time.Duration }

func newBackoff(first time.Duration) *backoff { return &backoff{first} }

// wait pauses. It is false when ctx ends first.
func (b *backoff) wait(ctx context.Context) bool {
	pause := time.NewTimer(b.next)
	defer pause.Stop()
	b.next = min(2*b.next, retryMost)
	select {
	case <-pause.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// refusal is the fault of an event that take does not want.
func refusal(err error) fault {
	if err == nil {
		err = errors.New("no reason was given")
	}
	return fault{reasonRefused, err}
}
