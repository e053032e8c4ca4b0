package outbox

import "time"

const (
	// quickPoll is how often the relay looks while another process, such as a
	// command beside the service or another instance, commits events: each waits
	// 1.5 ms on average. What this process commits wakes the relay at once, and
	// causes no polling.
	quickPoll = 3 * time.Millisecond
	// quickFor is how long it goes on so after the last that it has found.
	quickFor = 2 * time.Second
	// slowPollFile and slowPollServer are where the pause ends up when nothing is
	// found. A look costs 35 µs on SQLite and a round trip of some 150 µs on
	// PostgreSQL, so that an idle relay takes about 0.15 % of a core.
	slowPollFile   = 25 * time.Millisecond
	slowPollServer = 100 * time.Millisecond
	// firstRetry and lastRetry are the pauses after a failure; each is twice the
	// one before.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// pace says how long the relay pauses before it looks again. Its zero value has
// found nothing and failed never.
type pace struct {
	slow  time.Duration // the longest pause while all is well
	quick time.Time     // until then each pause is the shortest
	last  time.Duration // the pause before this one
	retry time.Duration // the pause after the next failure but one
}

// found notes that a look without a wake has found something.
func (p *pace) found(now time.Time) { p.quick, p.last = now.Add(quickFor), 0 }

// idle is the pause after a look that has left nothing.
func (p *pace) idle(now time.Time) time.Duration {
	p.retry = 0
	if now.Before(p.quick) {
		return quickPoll
	}
	p.last = min(max(2*p.last, quickPoll), p.slow)
	return p.last
}

// failure is the pause after one that has failed. Progress says that some events
// went through: then the others are not given up for longer than at first.
func (p *pace) failure(progress bool) time.Duration {
	if progress {
		p.retry = 0
	}
	p.retry = min(max(2*p.retry, firstRetry), lastRetry)
	return p.retry
}
