package verify

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/workqueue"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// wantCalls checks the bank's calls since the last time.
func (s *serviceFixture) wantCalls(what string, want ...string) {
	s.t.Helper()
	if got := s.bank.calls(); !slices.Equal(got, want) {
		s.t.Errorf("%s: the bank received %q, want %q", what, got, want)
	}
}

// wantDue checks that a verification is pending, and the time until its next call.
func (s *serviceFixture) wantDue(what, id string, want time.Duration) {
	s.t.Helper()
	if got, due := s.record(id), s.dueIn(id); got.State != schema.VerificationPending || due != want {
		s.t.Errorf("%s: it is %s, due in %s, want %s", what, got.State, due, want)
	}
}

// wantFinal checks a final state and its single event.
func (s *serviceFixture) wantFinal(id string, state schema.VerificationState, events ...string) {
	s.t.Helper()
	got := s.record(id)
	switch {
	case got.State != state:
		s.t.Errorf("State = %v, want %v", got.State, state)
	case got.Encrypted != nil:
		s.t.Errorf("Encrypted = %v, want nil", got.Encrypted)
	case got.FinishedAt.IsZero():
		s.t.Error("FinishedAt.IsZero() is true")
	case s.dueIn(id) > -time.Hour:
		s.t.Errorf("s.dueIn(id) = %v, want at most %v", s.dueIn(id), -time.Hour)
	}
	if diff := cmp.Diff(events, s.events()); diff != "" {
		s.t.Errorf("events (-want +got):\n%s", diff)
	}
}

const (
	completed = "verification.completed"
	failed    = "verification.failed"
)

// Pending verifications are enquired after 5, 10, 20, 40 s and so on, up to ten minutes.
func TestPendingVerificationIsEnquiredWithBackoff(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() {
			s.bank.deposit, s.bank.enquire = answers(bank.Answer{Outcome: bank.Pending, ProviderRef: "p1"}), answers(bank.Answer{Outcome: bank.Pending})
		})
		r := s.do(s.request())
		s.wantCalls("at first", "deposit")
		if r.ProviderRef != "p1" || r.DelayCode != "" {
			t.Errorf("got %+v", r)
		}
		for i, pause := range []int{5, 10, 20, 40, 80, 160, 320, 600, 600, 600} {
			want := time.Duration(pause) * time.Second
			s.wantDue(fmt.Sprint("look ", i), r.ID, want)
			s.advance(want - time.Second)
			s.wantCalls("too early")
			s.advance(time.Second)
			s.wantCalls("then", "enquire")
		}
		s.bank.set(func() { s.bank.enquire = answers(bank.Answer{Outcome: bank.Pending, RetryAfter: time.Second}) })
		s.advance(10 * time.Minute)
		s.wantDue("when the bank wants it sooner", r.ID, time.Second)
		s.bank.set(func() { s.bank.enquire = nil })
		s.advance(time.Second)
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}

// A call without an answer may have made the deposit. It leads to an enquiry. The deposit is
// resent only if the bank does not know it and a slow request must have arrived.
func TestDepositIsResentOnlyIfUnknown(t *testing.T) {
	t.Parallel()
	odd := foundAnswer("RAHUL SHARMA")
	odd.Account.Status = "asleep"
	for name, c := range map[string]struct {
		say     func(bank.Order) (bank.Answer, error)
		trouble schema.Code
	}{
		"error":      {fails(errLost), schema.BankNetworkError},
		"panic":      {func(bank.Order) (bank.Answer, error) { panic("bank") }, schema.BankNetworkError},
		"nonsense":   {answers(bank.Answer{Outcome: 99}), schema.BankNetworkError},
		"negative":   {answers(bank.Answer{Outcome: -1}), schema.BankNetworkError},
		"odd status": {answers(odd), schema.BankNetworkError},
		"unknown":    {answers(bank.Answer{Outcome: bank.Unknown}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *serviceFixture) {
				s.bank.set(func() { s.bank.deposit, s.bank.enquire = c.say, answers(bank.Answer{Outcome: bank.Unknown}) })
				r := s.do(s.request())
				s.wantDue("after the first call", r.ID, 5*time.Second)
				if r.DelayCode != c.trouble {
					t.Errorf("its trouble is %q, want %q", r.DelayCode, c.trouble)
				}
				s.wantCalls("at first", "deposit")
				for _, pause := range []int{5, 10, 20} { // a resend is allowed one minute after the send
					s.advance(time.Duration(pause) * time.Second)
				}
				s.wantDue("before the minute is over", r.ID, 25*time.Second)
				s.wantCalls("meanwhile", "enquire", "enquire", "enquire")
				s.bank.set(func() {
					s.bank.deposit = func(o bank.Order) (bank.Answer, error) {
						if o.Reference != r.ID {
							return bank.Answer{}, fmt.Errorf("another reference: %s", o.Reference)
						}
						return foundAnswer("RAHUL SHARMA"), nil
					}
				})
				s.advance(25 * time.Second)
				s.wantCalls("a minute later", "enquire", "deposit")
				s.wantFinal(r.ID, schema.VerificationSuccess, completed)
			})
		})
	}
}

// A deposit that was certainly not made is sent again as if for the first time, without an
// enquiry.
func TestDepositThatWasNotMadeIsRetried(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(bank.Order) (bank.Answer, error){"not made": answers(bank.Answer{Outcome: bank.NotMade}), "not reached": fails(errUnsent)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *serviceFixture) {
				s.bank.set(func() { s.bank.deposit, s.bank.resolve = say, say })
				for _, q := range []request.Request{s.request(), s.address()} {
					r := s.do(q)
					if r.DelayCode != schema.BankNetworkError || q.Method == schema.VerifyPennyDrop && (r.Sent || !r.SentAt.IsZero()) {
						t.Errorf("%s: got %+v", q.Method, r)
					}
					call := firstCall(&r).String()
					s.wantCalls(call, call)
					for _, pause := range []int{5, 10, 20} {
						s.advance(time.Duration(pause)*time.Second - 1)
						s.wantCalls("too early")
						s.advance(1)
						s.wantCalls("again", call)
					}
					s.wantDue("then", r.ID, 40*time.Second)
					s.bank.set(func() { s.bank.deposit, s.bank.resolve = nil, nil })
					s.advance(40 * time.Second)
					if got := s.record(r.ID); got.State != schema.VerificationSuccess {
						t.Errorf("%s: it is %s", q.Method, got.State)
					}
					s.bank.calls()
					s.bank.set(func() { s.bank.deposit, s.bank.resolve = say, say })
				}
			})
		})
	}
}

// A failed resend leads to an enquiry, because the first request may still arrive.
func TestFailedResendIsEnquired(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = fails(errLost), answers(bank.Answer{Outcome: bank.Unknown}) })
		r := s.do(s.request())
		s.bank.set(func() { s.bank.deposit = fails(errUnsent) })
		s.bank.calls()
		s.advance(time.Minute)
		s.wantCalls("a minute later", "enquire", "deposit")
		s.wantDue("then", r.ID, 2*transaction.MinPause)
		s.bank.set(func() { s.bank.enquire, s.bank.deposit = nil, nil }) // the first has arrived
		s.advance(time.Minute)
		s.wantCalls("then", "enquire")
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}

// An unanswered enquiry gives no information about the deposit.
func TestLostEnquiryIsRepeated(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = fails(errLost), fails(errUnsent) })
		r := s.do(s.request())
		for _, pause := range []int{5, 10, 20, 40, 80} {
			s.advance(time.Duration(pause) * time.Second)
		}
		s.wantCalls("until then", "deposit", "enquire", "enquire", "enquire", "enquire", "enquire")
		s.bank.set(func() { s.bank.enquire = answers(bank.Answer{Outcome: bank.NotFound}) })
		s.advance(160 * time.Second)
		s.wantFinal(r.ID, schema.VerificationFailed, failed)
	})
}

// A call that the breaker blocked is requeued as if it had not started.
func TestCallBlockedByBreakerIsRequeued(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		shut := fails(errBreaker)
		s.bank.set(func() { s.bank.deposit = shut })
		r := s.do(s.request())
		for range 20 { // the backoff of enquiries would grow
			switch {
			case r.Sent:
				t.Fatal("r.Sent is true")
			case !r.SentAt.IsZero():
				t.Fatal("r.SentAt is not zero")
			case r.Tries != 0:
				t.Fatalf("r.Tries = %v, want 0", r.Tries)
			case r.DelayCode != "":
				t.Fatalf("r.DelayCode = %q, want none", r.DelayCode)
			}
			s.wantDue("put back", r.ID, workqueue.RetryPause)
			s.advance(workqueue.RetryPause)
			r = s.record(r.ID)
		}
		s.wantCalls("again and again", slices.Repeat([]string{"deposit"}, 21)...)
		if got := s.metric("vayu_verify_calls_total", "provider", "puppet", "call", "deposit", "result", "not_asked"); got != 21 {
			t.Errorf("%v calls are counted as not asked", got)
		}
		// A sent deposit remains sent, whatever later calls are blocked.
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = fails(errLost), shut })
		s.advance(workqueue.RetryPause)
		s.advance(transaction.MinPause)
		if got := s.record(r.ID); !got.Sent || got.Tries != 1 || s.dueIn(r.ID) != workqueue.RetryPause {
			t.Errorf("an enquiry that was not asked: %+v, due in %s", got, s.dueIn(r.ID))
		}
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = shut, answers(bank.Answer{Outcome: bank.Unknown}) })
		s.advance(time.Minute)
		if got := s.record(r.ID); !got.Sent || got.Tries != 1 || s.dueIn(r.ID) != workqueue.RetryPause {
			t.Errorf("a deposit that was not asked for again: %+v, due in %s", got, s.dueIn(r.ID))
		}
		s.bank.calls()
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = nil, nil })
		s.advance(workqueue.RetryPause)
		s.wantCalls("in the end", "enquire")
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}

// A verification without an outcome is given up after the limit, with one event, whatever the
// cause.
func TestVerificationIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deposit, enquire func(bank.Order) (bank.Answer, error)
		code             schema.Code
	}{
		"takes its time": {answers(bank.Answer{Outcome: bank.Pending}), answers(bank.Answer{Outcome: bank.Pending}), schema.BankTimeout},
		"is lost":        {fails(errLost), fails(errLost), schema.BankNetworkError},
		"makes none":     {answers(bank.Answer{Outcome: bank.NotMade}), nil, schema.BankNetworkError},
		"is not reached": {fails(errUnsent), nil, schema.BankNetworkError},
		"is not asked":   {fails(errBreaker), nil, schema.BankNetworkError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *serviceFixture) {
				s.bank.set(func() { s.bank.deposit, s.bank.enquire = c.deposit, c.enquire })
				r := s.do(s.request())
				s.advance(s.Service.settings.GiveUp - time.Second)
				if got := s.record(r.ID).State; got != schema.VerificationPending {
					t.Errorf("before the limit it is %s, want pending", got)
				}
				if got := s.events(); len(got) != 0 {
					t.Errorf("before the limit it has the events %v, want none", got)
				}
				s.advance(10*time.Minute + time.Second)
				s.wantFinal(r.ID, schema.VerificationFailed, failed)
				if got := s.record(r.ID); got.ErrorCode != c.code || reached(&got) {
					t.Errorf("got %+v, want %s", got, c.code)
				}
				if s.log.Count("verification given up") != 1 || s.metric("vayu_verify_outcomes_total", "outcome", "failed") != 1 {
					t.Errorf("giving up is not logged once: %s", s.log)
				}
				s.bank.calls()
				s.advance(24 * time.Hour)
				s.wantCalls("afterwards")
			})
		})
	}
}

func TestResultsOfCallsAreCounted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		all := map[string]func(bank.Order) (bank.Answer, error){
			"error": fails(errLost), "panic": func(bank.Order) (bank.Answer, error) { panic("bank") }, "not_sent": fails(errUnsent), "not_asked": fails(errBreaker),
			"pending": answers(bank.Answer{Outcome: bank.Pending}), "found": answers(foundAnswer("R")), "not_found": answers(bank.Answer{Outcome: bank.NotFound}), "not_made": answers(bank.Answer{Outcome: bank.NotMade}),
			"unknown": answers(bank.Answer{Outcome: bank.Unknown}), "timeout": fails(fmt.Errorf("calling: %w", errTimeout)),
		}
		for result, say := range all {
			s.bank.set(func() { s.bank.deposit = say })
			s.do(s.request())
			if got := s.metric("vayu_verify_calls_total", "provider", "puppet", "call", "deposit", "result", result); got != 1 {
				t.Errorf("%v calls with %s are counted", got, result)
			}
		}
		if got := s.metric("vayu_verify_call_seconds", "call", "deposit"); got != float64(len(all)) {
			t.Errorf("%v calls are timed", got)
		}
		s.bank.set(func() { s.bank.resolve = answers(bank.Answer{Outcome: bank.Unknown}) }) // an address has no reference
		if r := s.do(s.address()); r.DelayCode != schema.BankNetworkError {
			t.Errorf("DelayCode = %q, want %q", r.DelayCode, schema.BankNetworkError)
		}
		if got := s.metric("vayu_verify_calls_total", "call", "resolve", "result", "error"); got != 1 {
			t.Errorf("%v failed calls of resolve are counted, want 1", got)
		}
	})
}

// No deposit is sent under a lease that may expire before the call ends.
func TestExpiringLeaseSendsNoDeposit(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending}) })
		r := s.do(s.request())
		s.bank.calls()
		if !s.connections[0].TryAcquire(false) {
			t.Fatal("there is no slot")
		}
		s.runJob(job{Connection: s.connections[0], rec: r, call: callDeposit, lease: workqueue.Lease{Token: "t", Until: s.clock.Now().Add(10 * time.Second)}})
		s.wantCalls("under it")
		if got := s.metric("vayu_verify_overdue_total"); got != 1 {
			t.Errorf("%v are counted", got)
		}
	})
}

// An outcome that cannot be recorded is counted, and enquired again.
func TestUnrecordedOutcomeIsEnquiredAgain(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() {
			s.bank.deposit = func(bank.Order) (bank.Answer, error) {
				s.exec("ALTER TABLE event RENAME TO gone")
				return foundAnswer("RAHUL SHARMA"), nil
			}
		})
		r, _, err := s.Do(t.Context(), s.request(), 0, true)
		if err != nil {
			t.Fatal(err)
		}
		s.Queue.Wait()
		s.exec("ALTER TABLE gone RENAME TO event")
		if got := s.record(r.ID); got.State != schema.VerificationPending || got.Encrypted == nil {
			t.Errorf("got %+v, want it pending and encrypted", got)
		}
		if got := s.metric("vayu_verify_store_failures_total", "doing", "record"); got != 1 {
			t.Errorf("%v failures of the store are counted, want 1", got)
		}
		s.bank.calls()
		s.advance(41 * time.Second)
		s.wantCalls("after its lease", "enquire")
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}
