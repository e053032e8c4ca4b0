package delivery

import (
	"time"

	"vayu/schema"
)

// RetryDelays are the delays before the attempts 2 to 8 (spec 6.4, first table
// column). They count from the moment the attempt before was sent, not from when
// it ended, because only so does the table's other column hold, the time since
// the first: 10 s, 40 s, 2 min 40 s, 12 min 40 s, about 1 h, 7 h and 31 h.
var RetryDelays = [...]time.Duration{
	10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
	time.Hour, 6 * time.Hour, 24 * time.Hour,
}

// Attempts is how many a delivery gets (spec 8).
const Attempts = len(RetryDelays) + 1

// Judge is the state machine of spec 3.3: what follows from attempt n (from 1)
// that was sent at a time.
func Judge(n int, ok bool, sentAt time.Time) Verdict {
	switch {
	case ok:
		return Verdict{State: schema.DeliveryDelivered}
	case n >= Attempts:
		return Verdict{State: schema.DeliveryFailed}
	}
	return Verdict{State: schema.DeliveryWaiting, DueAt: sentAt.Add(RetryDelays[max(n, 1)-1])}
}
