package outbox

import (
	"time"

	"vayu/internal/sleep"
)

const (
	// quickPoll is the poll interval after a poll has found an event, which another process has committed. Polling delays
	// such events by 1.5 ms on average. Commits of this process wake the relay without polling.
	quickPoll = 3 * time.Millisecond
	// quickFor is how long quick polling continues after a poll has found an event.
	quickFor = 2 * time.Second
	// slowPoll is the longest poll interval. A poll costs about 200 µs with SQLite or PostgreSQL, so an idle relay uses
	// about 0.2 % of a core (BenchmarkIdle).
	slowPoll = 150 * time.Millisecond
	// firstRetry and lastRetry bound the exponential backoff after failures.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
	// lastPartial is the longest backoff if only some accounts fail. It is short, because events of the other accounts
	// wait for it too, if another process commits them: other processes cannot wake the relay.
	lastPartial = time.Second
)

// pollDelay computes the delay before the relay reads the outbox again. The zero value means that no recent poll has
// found an event, and that the last pass did not fail.
type pollDelay struct {
	quick    time.Time     // when quick polling ends
	delay    time.Duration // until the next poll
	failures int           // number of failed passes in a row
}

// found records that polling found an event.
func (p *pollDelay) found(now time.Time) { p.quick, p.delay = now.Add(quickFor), 0 }

// idle returns the delay after a pass that has left no event in the outbox.
func (p *pollDelay) idle(now time.Time) time.Duration {
	p.failures = 0
	if now.Before(p.quick) {
		return quickPoll
	}
	p.delay = min(max(2*p.delay, quickPoll), slowPoll)
	return p.delay
}

// failure returns the delay after a failed pass. `progress` means that the publisher acknowledged some events in the
// pass. Then the backoff starts again from firstRetry.
func (p *pollDelay) failure(progress bool) time.Duration {
	if progress {
		p.failures = 0
	}
	p.failures++
	return sleep.Backoff(p.failures-1, firstRetry, lastRetry)
}
