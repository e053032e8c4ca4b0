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
	// slowPoll is where the pause ends up when nothing is found. A look from idle
	// costs some 200 µs on either engine, most of it for waking up, so that an idle
	// relay takes about 0.2 % of a core (BenchmarkIdle).
	slowPoll = 150 * time.Millisecond
	// firstRetry and lastRetry are the pauses after a failure; each is twice the
	// one before.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// pace says how long the relay pauses before it looks again. Its zero value has
// found nothing and failed never.
type pace struct {
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
	p.last = min(max(2*p.last, quickPoll), slowPoll)
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
