package recharge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// A pending recharge is polled after 5, 10, 20, 40 s and so on up to ten minutes, and its
// pending event is sent once.
func TestPendingRechargeIsPolledWithBackoff(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() {
			s.fake.submit, s.fake.enquire = answers(order.Answer{Outcome: order.Pending, ProviderRef: "p1"}), answers(order.Answer{Outcome: order.Pending})
		})
		r := s.do(s.request())
		if r.State != schema.RechargePending || !r.PendingEventSent || r.ProviderRef != "p1" {
			t.Errorf("got %+v", r)
		}
		s.balance(900_00, 100_00)
		for i, pause := range []int{5, 10, 20, 40, 80, 160, 320, 600, 600, 600} {
			want := time.Duration(pause) * time.Second
			if got := s.dueIn(r.ID); got != want {
				t.Errorf("after %d looks it is due in %s, want %s", i+1, got, want)
			}
			s.fake.calls()
			s.advance(want - time.Second)
			if got := s.fake.calls(); len(got) != 0 {
				t.Errorf("too early it received %q", got)
			}
			s.advance(time.Second)
			if diff := cmp.Diff([]string{"enquire Airtel"}, s.fake.calls()); diff != "" {
				t.Error(diff)
			}
		}
		s.fake.set(func() { s.fake.enquire = answers(order.Answer{Outcome: order.Pending, RetryAfter: time.Second}) })
		s.advance(10 * time.Minute)
		if got := s.dueIn(r.ID); got != time.Second {
			t.Errorf("it is due in %s, and the provider requested a second", got)
		}
		s.fake.set(func() { s.fake.enquire = nil })
		s.advance(time.Second)
		if got := s.find(r.ID); got.State != schema.RechargeSuccess || s.dueIn(r.ID) > 0 {
			t.Errorf("got %s, due in %s", got.State, s.dueIn(r.ID))
		}
		if diff := cmp.Diff([]string{"recharge.pending", "recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(900_00, 0)
	})
}

// If a call ended without an answer, an enquiry precedes a resend. The order is only
// resent if the provider does not know it, and after the resend delay.
func TestResendOnlyAfterUnknown(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]func(order.Order) (order.Answer, error){
		"error": fails(errLost), "panic": func(order.Order) (order.Answer, error) { panic("provider") },
		"nonsense": answers(order.Answer{Outcome: 99}), "unknown": answers(order.Answer{Outcome: order.Unknown}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
				s.fake.set(func() { s.fake.submit, s.fake.enquire = lost, answers(order.Answer{Outcome: order.Unknown}) })
				r := s.do(s.request())
				if r.State != schema.RechargePending || s.dueIn(r.ID) != 5*time.Second {
					t.Fatalf("got %s, due in %s", r.State, s.dueIn(r.ID))
				}
				s.fake.calls()
				for _, pause := range []int{5, 10, 20} { // a minute after it was sent it may be sent again
					s.advance(time.Duration(pause) * time.Second)
				}
				if got := s.dueIn(r.ID); got != 25*time.Second {
					t.Errorf("it is due in %s, and may be sent in 25 s", got)
				}
				if diff := cmp.Diff([]string{"enquire Airtel", "enquire Airtel", "enquire Airtel"}, s.fake.calls()); diff != "" {
					t.Error(diff)
				}
				s.fake.set(func() {
					s.fake.submit = func(o order.Order) (order.Answer, error) {
						if o.Reference != r.ID {
							return order.Answer{}, fmt.Errorf("another reference: %s", o.Reference)
						}
						return order.Answer{Outcome: order.Succeeded}, nil
					}
				})
				s.advance(25 * time.Second)
				if diff := cmp.Diff([]string{"enquire Airtel", "submit Airtel"}, s.fake.calls()); diff != "" {
					t.Error(diff)
				}
				if got := s.find(r.ID); got.State != schema.RechargeSuccess || !got.SentAt.Equal(noon.Add(time.Minute)) {
					t.Errorf("got %s, sent at %s", got.State, got.SentAt)
				}
				if diff := cmp.Diff([]string{"recharge.pending", "recharge.completed"}, s.events()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestResultsOfCallsAreCounted(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		for result, say := range map[string]func(order.Order) (order.Answer, error){
			"error": fails(errLost), "panic": func(order.Order) (order.Answer, error) { panic("provider") }, "not_sent": fails(fmt.Errorf("dialling: %w", httpconnector.ErrNotSent)),
			"pending": answers(order.Answer{Outcome: order.Pending}), "succeeded": answers(order.Answer{Outcome: order.Succeeded}), "failed": answers(order.Answer{Outcome: order.Failed}),
		} {
			s.fake.set(func() { s.fake.submit = say })
			s.do(s.request())
			if got := s.metric("vayu_recharge_calls_total", "provider", "fake", "call", "submit", "result", result); got != 1 {
				t.Errorf("%v calls with %s are counted", got, result)
			}
		}
		if got := s.metric("vayu_recharge_call_seconds", "call", "submit"); got != 6 {
			t.Errorf("%v calls are timed", got)
		}
	})
}

// An order that certainly was not sent fails.
func TestUnsentOrderFails(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() { s.fake.submit = fails(fmt.Errorf("dialling: %w", httpconnector.ErrNotSent)) })
		r := s.do(s.request())
		if r.State != schema.RechargeFailed || r.ErrorCode != schema.OperatorNetworkError {
			t.Errorf("got %+v", r)
		}
		s.balance(1000_00, 0)
	})
}

// A resend that fails does not fail the recharge, because the first order may still
// arrive.
func TestFailedResendKeepsPending(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() { s.fake.submit, s.fake.enquire = fails(errLost), answers(order.Answer{Outcome: order.Unknown}) })
		r := s.do(s.request())
		s.fake.set(func() { s.fake.submit = fails(fmt.Errorf("dialling: %w", httpconnector.ErrNotSent)) })
		s.fake.calls()
		s.advance(time.Minute)
		if diff := cmp.Diff([]string{"enquire Airtel", "submit Airtel"}, s.fake.calls()); diff != "" {
			t.Error(diff)
		}
		if got := s.find(r.ID); got.State != schema.RechargePending || s.dueIn(r.ID) != 2*transaction.MinPause {
			t.Errorf("it is %s, due in %s", got.State, s.dueIn(r.ID))
		}
		s.balance(900_00, 100_00)
		s.fake.set(func() { s.fake.enquire = nil }) // the first sending has arrived
		s.advance(time.Minute)
		if got := s.find(r.ID); got.State != schema.RechargeSuccess {
			t.Errorf("it is %s", got.State)
		}
		s.balance(900_00, 0)
	})
}

// Calls that a circuit breaker blocks are requeued. The recharge sends its pending event
// once and never fails.
func TestBlockedCallIsRequeued(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		shut := fails(fmt.Errorf("a breaker: %w", httpconnector.ErrNotCalled))
		s.fake.set(func() { s.fake.submit = shut })
		r := s.do(s.request())
		for range 20 { // an enquiry would come in greater and greater intervals
			switch {
			case r.State != schema.RechargePending:
				t.Fatalf("r.State = %v, want %v", r.State, schema.RechargePending)
			case r.Sent:
				t.Fatal("r.Sent is true")
			case !r.SentAt.IsZero():
				t.Fatal("r.SentAt is not zero")
			case r.Tries != 0:
				t.Fatalf("r.Tries = %v, want 0", r.Tries)
			case !r.PendingEventSent:
				t.Fatal("r.PendingEventSent is false")
			case s.dueIn(r.ID) != workqueue.RetryPause:
				t.Fatalf("s.dueIn(r.ID) = %v, want %v", s.dueIn(r.ID), workqueue.RetryPause)
			}
			s.advance(workqueue.RetryPause)
			r = s.find(r.ID)
		}
		if diff := cmp.Diff(slices.Repeat([]string{"submit Airtel"}, 21), s.fake.calls()); diff != "" {
			t.Error(diff)
		}
		if got := s.metric("vayu_recharge_calls_total", "provider", "fake", "call", "submit", "result", "not_asked"); got != 21 {
			t.Errorf("%v calls are counted as blocked", got)
		}
		s.balance(900_00, 100_00)
		// A sent recharge stays sent, even if later calls are blocked.
		s.fake.set(func() { s.fake.submit, s.fake.enquire = fails(errLost), shut })
		s.advance(workqueue.RetryPause)
		s.advance(transaction.MinPause)
		if got := s.find(r.ID); !got.Sent || got.Tries != 1 || s.dueIn(r.ID) != workqueue.RetryPause {
			t.Errorf("a blocked enquiry: %+v, due in %s", got, s.dueIn(r.ID))
		}
		s.fake.set(func() { s.fake.submit, s.fake.enquire = shut, answers(order.Answer{Outcome: order.Unknown}) })
		s.advance(time.Minute)
		switch got := s.find(r.ID); {
		case got.State != schema.RechargePending:
			t.Errorf("not sent again: State = %v, want %v", got.State, schema.RechargePending)
		case !got.Sent:
			t.Error("not sent again: Sent is false")
		case got.Tries != 1:
			t.Errorf("not sent again: Tries = %v, want 1", got.Tries)
		case s.dueIn(r.ID) != workqueue.RetryPause:
			t.Errorf("not sent again: s.dueIn(r.ID) = %v, want %v", s.dueIn(r.ID), workqueue.RetryPause)
		}
		s.fake.calls()
		s.fake.set(func() { s.fake.submit, s.fake.enquire = nil, nil })
		s.advance(workqueue.RetryPause)
		if diff := cmp.Diff([]string{"enquire Airtel"}, s.fake.calls()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"recharge.pending", "recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(900_00, 0)
	})
}

// The remaining wait and the time of the next poll use the same clock.
func TestWaitUsesTheServiceClock(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() {
			s.fake.submit = func(order.Order) (order.Answer, error) {
				s.clock.Advance(time.Hour - transaction.MinPause + time.Second)
				return order.Answer{Outcome: order.Pending}, nil
			}
		})
		got, _, err := s.Do(t.Context(), s.request(), time.Hour)
		if err != nil || got.State != schema.RechargePending || !got.PendingEventSent {
			t.Errorf("got %+v, %v", got, err)
		}
		s.Queue.Wait()
	})
}

// A wait ends with the outcome, or with the current state after its time.
func TestWaitReturnsOutcomeOrState(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		submitted, answer := make(chan struct{}), make(chan order.Answer)
		s.fake.set(func() {
			s.fake.submit = func(order.Order) (order.Answer, error) { submitted <- struct{}{}; return <-answer, nil }
		})
		type result struct {
			record.Record
			err error
		}
		ask := func(wait time.Duration) <-chan result {
			got := make(chan result, 1)
			refused := make(chan error, 1)
			q := s.request()
			go func() {
				rec, _, err := s.Do(t.Context(), q, wait)
				if err != nil {
					refused <- err
				}
				got <- result{rec, err}
			}()
			select {
			case <-submitted:
			case err := <-refused: // no order will be submitted
				t.Fatal(err)
			}
			return got
		}
		in := ask(time.Minute)
		answer <- order.Answer{Outcome: order.Succeeded}
		if got := <-in; got.State != schema.RechargeSuccess || got.err != nil {
			t.Errorf("an answer in time: %s, %v", got.State, got.err)
		}
		got := <-ask(time.Millisecond)
		if got.State != schema.RechargePending || !got.PendingEventSent || got.err != nil {
			t.Errorf("an answer too late: %+v, %v", got.Record, got.err)
		}
		answer <- order.Answer{Outcome: order.Succeeded}
		s.Queue.Wait()
		if late := s.find(got.ID); late.State != schema.RechargeSuccess {
			t.Errorf("after the late answer it is %s", late.State)
		}
		in = ask(time.Minute) // the next look is after five seconds
		answer <- order.Answer{Outcome: order.Pending, RetryAfter: 2 * time.Minute}
		if got := <-in; got.State != schema.RechargePending || !got.PendingEventSent || got.err != nil {
			t.Errorf("pending for longer than the wait: %+v, %v", got.Record, got.err)
		}
		in = ask(time.Minute)
		answer <- order.Answer{Outcome: order.Pending, RetryAfter: time.Second}
		submitted = nil
		s.fake.set(func() { s.fake.enquire = nil })
		s.Queue.Wait()
		s.advance(time.Second)
		if got := <-in; got.State != schema.RechargeSuccess || got.err != nil {
			t.Errorf("the enquiry's answer: %+v, %v", got.Record, got.err)
		}
		want := "recharge.completed recharge.pending recharge.completed recharge.pending recharge.pending recharge.completed"
		if diff := cmp.Diff(want, strings.Join(s.events(), " ")); diff != "" {
			t.Error(diff)
		}
		if n := len(s.Waiters.Counts()); n != 0 {
			t.Errorf("%d wait for ever", n)
		}
	})
}

// A callback ends the wait, and the answer that follows has no effect.
func TestCallbackBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() {
			s.fake.submit = func(o order.Order) (order.Answer, error) {
				_, err := s.Settle(t.Context(), schema.Live, "fake", o.Reference, order.Answer{Outcome: order.Succeeded, ProviderRef: "by-callback"}, "provider:fake")
				return order.Answer{Outcome: order.Succeeded, ProviderRef: "answered", RetryAfter: time.Second}, err
			}
		})
		rec, _, err := s.Do(t.Context(), s.request(), time.Minute)
		if err != nil || rec.State != schema.RechargeSuccess || rec.ProviderRef != "by-callback" {
			t.Errorf("got %+v, %v", rec, err)
		}
		s.Queue.Wait()
		if got := s.dueIn(rec.ID); got != time.Second {
			t.Errorf("it is due in %s, and the provider requested an enquiry in a second", got)
		}
		if diff := cmp.Diff([]string{"recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(900_00, 0)
	})
}

// A provider may request enquiries about a final recharge, to report a reversal.
func TestRequestedEnquiryAfterFinalState(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() {
			s.fake.submit, s.fake.enquire = answers(order.Answer{Outcome: order.Succeeded, RetryAfter: 5 * time.Second}), answers(order.Answer{Outcome: order.Succeeded, RetryAfter: 7 * time.Second})
		})
		r := s.do(s.request())
		s.advance(5 * time.Second)
		if got := s.dueIn(r.ID); got != 7*time.Second {
			t.Errorf("it is due in %s", got)
		}
		s.fake.set(func() { s.fake.enquire = fails(errLost) })
		s.advance(7 * time.Second)
		s.fake.set(func() { s.fake.enquire = answers(order.Answer{Outcome: order.Reversed, Reason: "Taken back."}) })
		s.advance(5 * time.Second)
		got := s.find(r.ID)
		switch {
		case got.State != schema.RechargeRefunded:
			t.Errorf("State = %v, want %v", got.State, schema.RechargeRefunded)
		case got.RefundReason != "Taken back.":
			t.Errorf("RefundReason = %q, want \"Taken back.\"", got.RefundReason)
		case !strings.HasPrefix(got.RefundID, "rfd_"):
			t.Errorf("RefundID = %q, want the prefix %q", got.RefundID, "rfd_")
		case !got.RefundedAt.Equal(noon.Add(17 * time.Second)):
			t.Errorf("RefundedAt = %v, want %v", got.RefundedAt, noon.Add(17*time.Second))
		}
		s.fake.calls()
		s.advance(time.Hour)
		if got := s.fake.calls(); len(got) != 0 {
			t.Errorf("afterwards it received %q", got)
		}
		if diff := cmp.Diff([]string{"recharge.completed", "recharge.refunded"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(1000_00, 0)
	})
}
