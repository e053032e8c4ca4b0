package recharge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/upstream"
	"vayu/schema"
)

// What is pending is asked about after 5, 10, 20, 40 s and so on to ten minutes, and
// told once.
func TestAPendingRechargeIsAskedAbout(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() {
			s.puppet.submit, s.puppet.enquire = says(Answer{Outcome: Pending, ProviderRef: "p1"}), says(Answer{Outcome: Pending})
		})
		r := s.do(s.request())
		if r.State != schema.RechargePending || !r.ToldPending || r.ProviderRef != "p1" {
			t.Errorf("got %+v", r)
		}
		s.balance(900_00, 100_00)
		for i, pause := range []int{5, 10, 20, 40, 80, 160, 320, 600, 600, 600} {
			want := time.Duration(pause) * time.Second
			if got := s.dueIn(r.ID); got != want {
				t.Errorf("after %d looks it is due in %s, want %s", i+1, got, want)
			}
			s.puppet.calls()
			s.turn(want - time.Second)
			if got := s.puppet.calls(); len(got) != 0 {
				t.Errorf("too early it heard %q", got)
			}
			s.turn(time.Second)
			if diff := cmp.Diff([]string{"enquire Airtel"}, s.puppet.calls()); diff != "" {
				t.Error(diff)
			}
		}
		s.puppet.set(func() { s.puppet.enquire = says(Answer{Outcome: Pending, Again: time.Second}) })
		s.turn(10 * time.Minute)
		if got := s.dueIn(r.ID); got != time.Second {
			t.Errorf("it is due in %s, and the provider wanted a second", got)
		}
		s.puppet.set(func() { s.puppet.enquire = nil })
		s.turn(time.Second)
		if got := s.see(r.ID); got.State != schema.RechargeSuccess || s.dueIn(r.ID) > 0 {
			t.Errorf("got %s, due in %s", got.State, s.dueIn(r.ID))
		}
		if diff := cmp.Diff([]string{"recharge.pending", "recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(900_00, 0)
	})
}

// Nobody knows what became of an order whose call ended without an answer: it is
// asked about before it is sent again, and sent again only when the provider does
// not know it and what is slow on its way must have come.
func TestAnOrderIsSentAgainOnlyWhenItIsUnknown(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]func(Order) (Answer, error){
		"error": fails(errLost), "panic": func(Order) (Answer, error) { panic("provider") },
		"nonsense": says(Answer{Outcome: 99}), "unknown": says(Answer{Outcome: Unknown}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStage(t, func(t *testing.T, s *stage) {
				s.puppet.set(func() { s.puppet.submit, s.puppet.enquire = lost, says(Answer{Outcome: Unknown}) })
				r := s.do(s.request())
				if r.State != schema.RechargePending || s.dueIn(r.ID) != 5*time.Second {
					t.Fatalf("got %s, due in %s", r.State, s.dueIn(r.ID))
				}
				s.puppet.calls()
				for _, pause := range []int{5, 10, 20} { // a minute after it was sent it may be sent again
					s.turn(time.Duration(pause) * time.Second)
				}
				if got := s.dueIn(r.ID); got != 25*time.Second {
					t.Errorf("it is due in %s, and may be sent in 25 s", got)
				}
				if diff := cmp.Diff([]string{"enquire Airtel", "enquire Airtel", "enquire Airtel"}, s.puppet.calls()); diff != "" {
					t.Error(diff)
				}
				s.puppet.set(func() {
					s.puppet.submit = func(o Order) (Answer, error) {
						if o.Reference != r.ID {
							return Answer{}, fmt.Errorf("another reference: %s", o.Reference)
						}
						return Answer{Outcome: Succeeded}, nil
					}
				})
				s.turn(25 * time.Second)
				if diff := cmp.Diff([]string{"enquire Airtel", "submit Airtel"}, s.puppet.calls()); diff != "" {
					t.Error(diff)
				}
				if got := s.see(r.ID); got.State != schema.RechargeSuccess || !got.SentAt.Equal(noon.Add(time.Minute)) {
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
	eachStage(t, func(t *testing.T, s *stage) {
		for result, say := range map[string]func(Order) (Answer, error){
			"error": fails(errLost), "panic": func(Order) (Answer, error) { panic("provider") }, "not_sent": fails(fmt.Errorf("dialling: %w", ErrNotSent)),
			"pending": says(Answer{Outcome: Pending}), "succeeded": says(Answer{Outcome: Succeeded}), "failed": says(Answer{Outcome: Failed}),
		} {
			s.puppet.set(func() { s.puppet.submit = say })
			s.do(s.request())
			if got := s.figure("vayu_recharge_calls_total", "provider", "puppet", "call", "submit", "result", result); got != 1 {
				t.Errorf("%v calls with %s are counted", got, result)
			}
		}
		if got := s.figure("vayu_recharge_call_seconds", "call", "submit"); got != 6 {
			t.Errorf("%v calls are timed", got)
		}
	})
}

// An order that certainly was not sent has failed.
func TestWhatWasNotSentHasFailed(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() { s.puppet.submit = fails(fmt.Errorf("dialling: %w", ErrNotSent)) })
		r := s.do(s.request())
		if r.State != schema.RechargeFailed || r.ErrorCode != schema.OperatorNetworkError {
			t.Errorf("got %+v", r)
		}
		s.balance(1000_00, 0)
	})
}

// What was sent before may still be on its way when sending it again comes to
// nothing: it has not failed, and is asked about and sent once more.
func TestWhatCannotBeSentAgainHasNotFailed(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() { s.puppet.submit, s.puppet.enquire = fails(errLost), says(Answer{Outcome: Unknown}) })
		r := s.do(s.request())
		s.puppet.set(func() { s.puppet.submit = fails(fmt.Errorf("dialling: %w", ErrNotSent)) })
		s.puppet.calls()
		s.turn(time.Minute)
		if diff := cmp.Diff([]string{"enquire Airtel", "submit Airtel"}, s.puppet.calls()); diff != "" {
			t.Error(diff)
		}
		if got := s.see(r.ID); got.State != schema.RechargePending || s.dueIn(r.ID) != 2*firstPause {
			t.Errorf("it is %s, due in %s", got.State, s.dueIn(r.ID))
		}
		s.balance(900_00, 100_00)
		s.puppet.set(func() { s.puppet.enquire = nil }) // the first sending has arrived
		s.turn(time.Minute)
		if got := s.see(r.ID); got.State != schema.RechargeSuccess {
			t.Errorf("it is %s", got.State)
		}
		s.balance(900_00, 0)
	})
}

// What a breaker kept from being sent waits, as what was never sent does: it is told
// as pending once, sent again and again in vain, and never fails.
func TestWhatWasNotAskedWaits(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		shut := fails(fmt.Errorf("a breaker: %w", ErrNotAsked))
		s.puppet.set(func() { s.puppet.submit = shut })
		r := s.do(s.request())
		for range 20 { // an enquiry would come in greater and greater intervals
			if r.State != schema.RechargePending || r.Sent || !r.SentAt.IsZero() || r.Tries != 0 || !r.ToldPending || s.dueIn(r.ID) != upstream.AwayPause {
				t.Fatalf("got %+v, due in %s", r, s.dueIn(r.ID))
			}
			s.turn(upstream.AwayPause)
			r = s.see(r.ID)
		}
		if diff := cmp.Diff(slices.Repeat([]string{"submit Airtel"}, 21), s.puppet.calls()); diff != "" {
			t.Error(diff)
		}
		if got := s.figure("vayu_recharge_calls_total", "provider", "puppet", "call", "submit", "result", "not_asked"); got != 21 {
			t.Errorf("%v calls are counted as not asked", got)
		}
		s.balance(900_00, 100_00)
		// Once it was sent, it stays so, whatever is not asked afterwards.
		s.puppet.set(func() { s.puppet.submit, s.puppet.enquire = fails(errLost), shut })
		s.turn(upstream.AwayPause)
		s.turn(firstPause)
		if got := s.see(r.ID); !got.Sent || got.Tries != 1 || s.dueIn(r.ID) != upstream.AwayPause {
			t.Errorf("an enquiry that was not asked: %+v, due in %s", got, s.dueIn(r.ID))
		}
		s.puppet.set(func() { s.puppet.submit, s.puppet.enquire = shut, says(Answer{Outcome: Unknown}) })
		s.turn(time.Minute)
		if got := s.see(r.ID); got.State != schema.RechargePending || !got.Sent || got.Tries != 1 || s.dueIn(r.ID) != upstream.AwayPause {
			t.Errorf("not sent again: %+v, due in %s", got, s.dueIn(r.ID))
		}
		s.puppet.calls()
		s.puppet.set(func() { s.puppet.submit, s.puppet.enquire = nil, nil })
		s.turn(upstream.AwayPause)
		if diff := cmp.Diff([]string{"enquire Airtel"}, s.puppet.calls()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"recharge.pending", "recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(900_00, 0)
	})
}

// The time that a wait has left and the time of the next look are of one clock.
func TestAWaitEndsBeforeTheNextLook(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() {
			s.puppet.submit = func(Order) (Answer, error) {
				s.clock.Pass(time.Hour - firstPause + time.Second)
				return Answer{Outcome: Pending}, nil
			}
		})
		got, _, err := s.Do(t.Context(), s.request(), time.Hour)
		if err != nil || got.State != schema.RechargePending || !got.ToldPending {
			t.Errorf("got %+v, %v", got, err)
		}
		s.calls.Wait()
	})
}

// Who waits gets the outcome, and what has become of it when there is none in time.
func TestAWaitEndsWithTheOutcomeOrWithoutIt(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		asked, answer := make(chan struct{}), make(chan Answer)
		s.puppet.set(func() {
			s.puppet.submit = func(Order) (Answer, error) { asked <- struct{}{}; return <-answer, nil }
		})
		type result struct {
			Record
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
			case <-asked:
			case err := <-refused: // then nobody is ever asked
				t.Fatal(err)
			}
			return got
		}
		in := ask(time.Minute)
		answer <- Answer{Outcome: Succeeded}
		if got := <-in; got.State != schema.RechargeSuccess || got.err != nil {
			t.Errorf("an answer in time: %s, %v", got.State, got.err)
		}
		got := <-ask(time.Millisecond)
		if got.State != schema.RechargePending || !got.ToldPending || got.err != nil {
			t.Errorf("an answer too late: %+v, %v", got.Record, got.err)
		}
		answer <- Answer{Outcome: Succeeded}
		s.calls.Wait()
		if late := s.see(got.ID); late.State != schema.RechargeSuccess {
			t.Errorf("after the late answer it is %s", late.State)
		}
		in = ask(time.Minute) // the next look is after five seconds
		answer <- Answer{Outcome: Pending, Again: 2 * time.Minute}
		if got := <-in; got.State != schema.RechargePending || !got.ToldPending || got.err != nil {
			t.Errorf("pending for longer than the wait: %+v, %v", got.Record, got.err)
		}
		in = ask(time.Minute)
		answer <- Answer{Outcome: Pending, Again: time.Second}
		asked = nil
		s.puppet.set(func() { s.puppet.enquire = nil })
		s.calls.Wait()
		s.turn(time.Second)
		if got := <-in; got.State != schema.RechargeSuccess || got.err != nil {
			t.Errorf("the enquiry's answer: %+v, %v", got.Record, got.err)
		}
		want := "recharge.completed recharge.pending recharge.completed recharge.pending recharge.pending recharge.completed"
		if diff := cmp.Diff(want, strings.Join(s.events(), " ")); diff != "" {
			t.Error(diff)
		}
		if n := len(s.waits.Counts()); n != 0 {
			t.Errorf("%d wait for ever", n)
		}
	})
}

// An outcome that comes by itself ends the wait, and the answer that follows changes
// nothing.
func TestACallbackIsFasterThanTheAnswer(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() {
			s.puppet.submit = func(o Order) (Answer, error) {
				_, err := s.Settle(t.Context(), schema.Live, "puppet", o.Reference, Answer{Outcome: Succeeded, ProviderRef: "told"}, "provider:puppet")
				return Answer{Outcome: Succeeded, ProviderRef: "answered", Again: time.Second}, err
			}
		})
		rec, _, err := s.Do(t.Context(), s.request(), time.Minute)
		if err != nil || rec.State != schema.RechargeSuccess || rec.ProviderRef != "told" {
			t.Errorf("got %+v, %v", rec, err)
		}
		s.calls.Wait()
		if got := s.dueIn(rec.ID); got != time.Second {
			t.Errorf("it is due in %s, and the provider wants to be asked again in a second", got)
		}
		if diff := cmp.Diff([]string{"recharge.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(900_00, 0)
	})
}

// A provider may want to be asked again about what is final: so it tells of a
// reversal that would otherwise come by itself.
func TestAFinalOutcomeIsAskedAboutWhenThatIsWanted(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() {
			s.puppet.submit, s.puppet.enquire = says(Answer{Outcome: Succeeded, Again: 5 * time.Second}), says(Answer{Outcome: Succeeded, Again: 7 * time.Second})
		})
		r := s.do(s.request())
		s.turn(5 * time.Second)
		if got := s.dueIn(r.ID); got != 7*time.Second {
			t.Errorf("it is due in %s", got)
		}
		s.puppet.set(func() { s.puppet.enquire = fails(errLost) })
		s.turn(7 * time.Second)
		s.puppet.set(func() { s.puppet.enquire = says(Answer{Outcome: Reversed, Reason: "Taken back."}) })
		s.turn(5 * time.Second)
		got := s.see(r.ID)
		if got.State != schema.RechargeRefunded || got.RefundReason != "Taken back." || !strings.HasPrefix(got.RefundID, "rfd_") || !got.RefundedAt.Equal(noon.Add(17*time.Second)) {
			t.Errorf("got %+v", got)
		}
		s.puppet.calls()
		s.turn(time.Hour)
		if got := s.puppet.calls(); len(got) != 0 {
			t.Errorf("afterwards it heard %q", got)
		}
		if diff := cmp.Diff([]string{"recharge.completed", "recharge.refunded"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(1000_00, 0)
	})
}
