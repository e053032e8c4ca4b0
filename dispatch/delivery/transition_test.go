package delivery_test

import (
	"testing"
	"time"

	"vayu/dispatch/delivery"
	"vayu/schema"
)

// The attempts follow the documented schedule, also counted from the first attempt.
func TestRetrySchedule(t *testing.T) {
	t.Parallel()
	elapsed := []time.Duration{ // after the attempts 1 to 7: when the next is sent
		10 * time.Second, 40 * time.Second, 160 * time.Second, 760 * time.Second,
		760*time.Second + time.Hour, 760*time.Second + 7*time.Hour, 760*time.Second + 31*time.Hour,
	}
	at := start
	for n := 1; n <= 8; n++ {
		if got, want := delivery.AfterAttempt(n, true, at), (delivery.Transition{State: schema.DeliveryDelivered}); got != want {
			t.Errorf("attempt %d that was acknowledged: got %v, want %v", n, got, want)
		}
		got := delivery.AfterAttempt(n, false, at)
		want := delivery.Transition{State: schema.DeliveryFailed}
		if n < 8 {
			want = delivery.Transition{State: schema.DeliveryWaiting, DueAt: start.Add(elapsed[n-1])}
		}
		if got != want {
			t.Errorf("attempt %d that was not: got %v, want %v", n, got, want)
		}
		at = got.DueAt
	}
}
