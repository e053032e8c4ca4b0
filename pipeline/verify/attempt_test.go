package verify

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/upstream"
	"vayu/schema"
)

// wantCalls demands what the bank has heard since the last time.
func (s *serviceFixture) wantCalls(what string, want ...string) {
	s.t.Helper()
	if got := s.bank.calls(); !slices.Equal(got, want) {
		s.t.Errorf("%s: the bank heard %q, want %q", what, got, want)
	}
}

// wantDue demands that a verification is pending, and how long it is until the next
// look.
func (s *serviceFixture) wantDue(what, id string, want time.Duration) {
	s.t.Helper()
	if got, due := s.record(id), s.dueIn(id); got.State != schema.VerificationPending || due != want {
		s.t.Errorf("%s: it is %s, due in %s, want %s", what, got.State, due, want)
	}
}

// wantFinal demands how a verification has ended, and that it was told once.
func (s *serviceFixture) wantFinal(id string, state schema.VerificationState, events ...string) {
	s.t.Helper()
	got := s.record(id)
	if got.State != state || got.Sealed != nil || got.FinishedAt.IsZero() || s.dueIn(id) > -time.Hour {
		s.t.Errorf("got %+v, due in %s, want %s", got, s.dueIn(id), state)
	}
	if diff := cmp.Diff(events, s.events()); diff != "" {
		s.t.Errorf("events (-want +got):\n%s", diff)
	}
}

const (
	completed = "verification.completed"
	failed    = "verification.failed"
)

// What is pending is asked about after 5, 10, 20, 40 s and so on to ten minutes.
func TestPendingVerificationIsEnquiredWithBackoff(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() {
			s.bank.deposit, s.bank.enquire = answers(Answer{Outcome: Pending, ProviderRef: "p1"}), answers(Answer{Outcome: Pending})
		})
		r := s.do(s.request())
		s.wantCalls("at first", "deposit")
		if r.ProviderRef != "p1" || r.Trouble != "" {
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
		s.bank.set(func() { s.bank.enquire = answers(Answer{Outcome: Pending, Again: time.Second}) })
		s.advance(10 * time.Minute)
		s.wantDue("when the bank wants it sooner", r.ID, time.Second)
		s.bank.set(func() { s.bank.enquire = nil })
		s.advance(time.Second)
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}

// Nobody knows what became of a deposit whose call ended without an answer: it is
// asked about before it is asked for again, and asked for again only when the bank
// does not know it and what is slow on its way must have come.
func TestDepositIsResentOnlyIfUnknown(t *testing.T) {
	t.Parallel()
	odd := foundAnswer("RAHUL SHARMA")
	odd.Account.Status = "asleep"
	for name, c := range map[string]struct {
		say     func(Order) (Answer, error)
		trouble schema.Code
	}{
		"error":      {fails(errLost), schema.BankNetworkError},
		"panic":      {func(Order) (Answer, error) { panic("bank") }, schema.BankNetworkError},
		"nonsense":   {answers(Answer{Outcome: 99}), schema.BankNetworkError},
		"negative":   {answers(Answer{Outcome: -1}), schema.BankNetworkError},
		"odd status": {answers(odd), schema.BankNetworkError},
		"unknown":    {answers(Answer{Outcome: Unknown}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *serviceFixture) {
				s.bank.set(func() { s.bank.deposit, s.bank.enquire = c.say, answers(Answer{Outcome: Unknown}) })
				r := s.do(s.request())
				s.wantDue("after the first call", r.ID, 5*time.Second)
				if r.Trouble != c.trouble {
					t.Errorf("its trouble is %q, want %q", r.Trouble, c.trouble)
				}
				s.wantCalls("at first", "deposit")
				for _, pause := range []int{5, 10, 20} { // a minute after it was asked for it may be asked for again
					s.advance(time.Duration(pause) * time.Second)
				}
				s.wantDue("before the minute is over", r.ID, 25*time.Second)
				s.wantCalls("meanwhile", "enquire", "enquire", "enquire")
				s.bank.set(func() {
					s.bank.deposit = func(o Order) (Answer, error) {
						if o.Reference != r.ID {
							return Answer{}, fmt.Errorf("another reference: %s", o.Reference)
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

// A deposit that the bank certainly has not made is asked for again as if for the
// first time, and needs no enquiry.
func TestDepositThatWasNotMadeIsRetried(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(Order) (Answer, error){"not made": answers(Answer{Outcome: NotMade}), "not reached": fails(errUnsent)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *serviceFixture) {
				s.bank.set(func() { s.bank.deposit, s.bank.resolve = say, say })
				for _, q := range []Request{s.request(), s.address()} {
					r := s.do(q)
					if r.Trouble != schema.BankNetworkError || q.Method == schema.VerifyPennyDrop && (r.Sent || !r.SentAt.IsZero()) {
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

// What was asked for before may still be on its way when asking again comes to
// nothing: it is asked about.
func TestFailedResendIsEnquired(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = fails(errLost), answers(Answer{Outcome: Unknown}) })
		r := s.do(s.request())
		s.bank.set(func() { s.bank.deposit = fails(errUnsent) })
		s.bank.calls()
		s.advance(time.Minute)
		s.wantCalls("a minute later", "enquire", "deposit")
		s.wantDue("then", r.ID, 2*firstPause)
		s.bank.set(func() { s.bank.enquire, s.bank.deposit = nil, nil }) // the first has arrived
		s.advance(time.Minute)
		s.wantCalls("then", "enquire")
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}

// An enquiry that is not answered says nothing about the deposit.
func TestLostEnquiryIsRepeated(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = fails(errLost), fails(errUnsent) })
		r := s.do(s.request())
		for _, pause := range []int{5, 10, 20, 40, 80} {
			s.advance(time.Duration(pause) * time.Second)
		}
		s.wantCalls("until then", "deposit", "enquire", "enquire", "enquire", "enquire", "enquire")
		s.bank.set(func() { s.bank.enquire = answers(Answer{Outcome: NotFound}) })
		s.advance(160 * time.Second)
		s.wantFinal(r.ID, schema.VerificationFailed, failed)
	})
}

// What a breaker kept from being asked waits as if it had never been begun.
func TestCallBlockedByBreakerIsRequeued(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		shut := fails(errBreaker)
		s.bank.set(func() { s.bank.deposit = shut })
		r := s.do(s.request())
		for range 20 { // an enquiry would come in greater and greater intervals
			if r.Sent || !r.SentAt.IsZero() || r.Tries != 0 || r.Trouble != "" {
				t.Fatalf("got %+v", r)
			}
			s.wantDue("put back", r.ID, upstream.AwayPause)
			s.advance(upstream.AwayPause)
			r = s.record(r.ID)
		}
		s.wantCalls("again and again", slices.Repeat([]string{"deposit"}, 21)...)
		if got := s.metric("vayu_verify_calls_total", "provider", "puppet", "call", "deposit", "result", "not_asked"); got != 21 {
			t.Errorf("%v calls are counted as not asked", got)
		}
		// Once it was asked for, it stays so, whatever is not asked afterwards.
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = fails(errLost), shut })
		s.advance(upstream.AwayPause)
		s.advance(firstPause)
		if got := s.record(r.ID); !got.Sent || got.Tries != 1 || s.dueIn(r.ID) != upstream.AwayPause {
			t.Errorf("an enquiry that was not asked: %+v, due in %s", got, s.dueIn(r.ID))
		}
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = shut, answers(Answer{Outcome: Unknown}) })
		s.advance(time.Minute)
		if got := s.record(r.ID); !got.Sent || got.Tries != 1 || s.dueIn(r.ID) != upstream.AwayPause {
			t.Errorf("a deposit that was not asked for again: %+v, due in %s", got, s.dueIn(r.ID))
		}
		s.bank.calls()
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = nil, nil })
		s.advance(upstream.AwayPause)
		s.wantCalls("in the end", "enquire")
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}

// Who could not be asked for as long as banks are asked is given up, and told so
// once, whatever the reason was.
func TestVerificationIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deposit, enquire func(Order) (Answer, error)
		code             schema.Code
	}{
		"takes its time": {answers(Answer{Outcome: Pending}), answers(Answer{Outcome: Pending}), schema.BankTimeout},
		"is lost":        {fails(errLost), fails(errLost), schema.BankNetworkError},
		"makes none":     {answers(Answer{Outcome: NotMade}), nil, schema.BankNetworkError},
		"is not reached": {fails(errUnsent), nil, schema.BankNetworkError},
		"is not asked":   {fails(errBreaker), nil, schema.BankNetworkError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *serviceFixture) {
				s.bank.set(func() { s.bank.deposit, s.bank.enquire = c.deposit, c.enquire })
				r := s.do(s.request())
				s.advance(s.Settings.GiveUp - time.Second)
				if got := s.record(r.ID); got.State != schema.VerificationPending || len(s.events()) != 0 {
					t.Errorf("too early it is %+v", got)
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
		all := map[string]func(Order) (Answer, error){
			"error": fails(errLost), "panic": func(Order) (Answer, error) { panic("bank") }, "not_sent": fails(errUnsent), "not_asked": fails(errBreaker),
			"pending": answers(Answer{Outcome: Pending}), "found": answers(foundAnswer("R")), "not_found": answers(Answer{Outcome: NotFound}), "not_made": answers(Answer{Outcome: NotMade}),
			"unknown": answers(Answer{Outcome: Unknown}), "timeout": fails(fmt.Errorf("calling: %w", errTimeout)),
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
		s.bank.set(func() { s.bank.resolve = answers(Answer{Outcome: Unknown}) }) // an address has no reference
		if r := s.do(s.address()); r.Trouble != schema.BankNetworkError || s.metric("vayu_verify_calls_total", "call", "resolve", "result", "error") != 1 {
			t.Errorf("got %+v", r)
		}
	})
}

// A deposit is not asked for under a lease that may end before the call does.
func TestExpiringLeaseSendsNoDeposit(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit = answers(Answer{Outcome: Pending}) })
		r := s.do(s.request())
		s.bank.calls()
		if !s.connections[0].Take(false) {
			t.Fatal("there is no slot")
		}
		s.runJob(job{connection: s.connections[0], rec: r, call: callDeposit, lease: upstream.Lease{Token: "t", Until: s.clock.Now().Add(10 * time.Second)}})
		s.wantCalls("under it")
		if got := s.metric("vayu_verify_overdue_total"); got != 1 {
			t.Errorf("%v are counted", got)
		}
	})
}

// A verdict that cannot be recorded is asked for again, and counted.
func TestUnrecordedOutcomeIsEnquiredAgain(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() {
			s.bank.deposit = func(Order) (Answer, error) {
				s.exec("ALTER TABLE event RENAME TO gone")
				return foundAnswer("RAHUL SHARMA"), nil
			}
		})
		r, _, err := s.Do(t.Context(), s.request(), 0, true)
		if err != nil {
			t.Fatal(err)
		}
		s.queue.Wait()
		s.exec("ALTER TABLE gone RENAME TO event")
		if got := s.record(r.ID); got.State != schema.VerificationPending || got.Sealed == nil || s.metric("vayu_verify_store_failures_total", "doing", "record") != 1 {
			t.Errorf("got %+v", got)
		}
		s.bank.calls()
		s.advance(41 * time.Second)
		s.wantCalls("after its lease", "enquire")
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}
