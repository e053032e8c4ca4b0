package delivery

import (
	"time"

	"vayu/schema"
)

// Transition is the new state of a delivery after an attempt.
type Transition struct {
	State schema.DeliveryState // waiting, delivered or failed
	DueAt time.Time            // time of the next attempt, if State is waiting
}

// RetryDelays are the delays before the attempts 2 to 8. Each counts from the start of the previous attempt. So these
// attempts start 10 s, 40 s, 160 s, 760 s, about 1 h, 7 h and 31 h after the first.
var RetryDelays = [...]time.Duration{
	10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
	time.Hour, 6 * time.Hour, 24 * time.Hour,
}

// Attempts is the maximum number of attempts of a delivery.
const Attempts = len(RetryDelays) + 1

// AfterAttempt returns the transition after attempt n, counted from 1. `ok` means that the attempt was acknowledged.
// `sentAt` is the start of the attempt.
func AfterAttempt(n int, ok bool, sentAt time.Time) Transition {
	switch {
	case ok:
		return Transition{State: schema.DeliveryDelivered}
	case n >= Attempts:
		return Transition{State: schema.DeliveryFailed}
	}
	return Transition{State: schema.DeliveryWaiting, DueAt: sentAt.Add(RetryDelays[max(n, 1)-1])}
}
