package recharge

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// every contains every answer, in the order of outcomes.
var every = [...]Answer{
	Pending: {Outcome: Pending}, Succeeded: {Outcome: Succeeded}, Failed: {Outcome: Failed, Code: schema.InvalidNumber},
	NotSubscriber: {Outcome: NotSubscriber}, Unknown: {Outcome: Unknown}, Reversed: {Outcome: Reversed},
}

// reach brings a new recharge into a state.
func (s *serviceFixture) reach(to schema.RechargeState) Record {
	s.t.Helper()
	first := map[schema.RechargeState]Answer{
		schema.RechargePending: {Outcome: Pending}, schema.RechargeSuccess: {Outcome: Succeeded},
		schema.RechargeFailed: {Outcome: Failed}, schema.RechargeRefunded: {Outcome: Succeeded},
	}[to]
	s.fake.set(func() { s.fake.submit = answers(first) })
	r := s.do(s.request())
	if to == schema.RechargeRefunded {
		s.sendResult(r, Answer{Outcome: Reversed})
		r = s.find(r.ID)
	}
	if r.State != to {
		s.t.Fatalf("it is %s, want %s", r.State, to)
	}
	return r
}

// sendResult applies a callback of the fake provider.
func (s *serviceFixture) sendResult(r Record, a Answer) Record {
	s.t.Helper()
	got, err := s.Settle(s.t.Context(), schema.Live, "fake", r.Reference, a, "provider:fake")
	if err != nil {
		s.t.Fatal(err)
	}
	s.Queue.Wait()
	return got
}

// Every outcome in every state has its transition, and a repeated callback has no effect.
func TestTransitions(t *testing.T) {
	t.Parallel()
	const (
		pending, success, failed, refunded = schema.RechargePending, schema.RechargeSuccess, schema.RechargeFailed, schema.RechargeRefunded

		late, wrong = "late_success", "late_failure"
	)
	type becomes struct {
		State schema.RechargeState
		Alarm string
		Event string // that follows
	}
	want := map[schema.RechargeState][len(every)]becomes{
		pending: {
			Pending: {State: pending}, Succeeded: {State: success, Event: "recharge.completed"}, Failed: {State: failed, Event: "recharge.failed"},
			NotSubscriber: {State: failed, Event: "recharge.failed"}, Unknown: {State: pending}, Reversed: {State: failed, Event: "recharge.failed"},
		},
		success: {
			Pending: {State: success}, Succeeded: {State: success}, Failed: {State: success, Alarm: wrong}, NotSubscriber: {State: success, Alarm: wrong},
			Unknown: {State: success}, Reversed: {State: refunded, Event: "recharge.refunded"},
		},
		failed: {
			Pending: {State: failed}, Succeeded: {State: failed, Alarm: late}, Failed: {State: failed}, NotSubscriber: {State: failed},
			Unknown: {State: failed}, Reversed: {State: failed},
		},
		refunded: {
			Pending: {State: refunded}, Succeeded: {State: refunded}, Failed: {State: refunded}, NotSubscriber: {State: refunded},
			Unknown: {State: refunded}, Reversed: {State: refunded},
		},
	}
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		alarms := map[string]float64{}
		for _, from := range schema.RechargeStates {
			for outcome, a := range every {
				r := s.reach(from)
				before := len(s.events())
				var first Record
				for time := range 2 {
					got := s.sendResult(r, a)
					if now := s.find(r.ID); !cmp.Equal(got, now) {
						t.Errorf("%s, with %s, is returned as\n%+v and is\n%+v", from, a.Outcome, got, now)
					}
					if time == 0 {
						first = got
					} else if diff := cmp.Diff(first, got); diff != "" {
						t.Errorf("%s, with %s once more: %s", from, a.Outcome, diff)
					}
				}
				w := want[from][outcome]
				if diff := cmp.Diff(w, becomes{first.State, first.Alarm, strings.Join(s.events()[before:], " ")}); diff != "" {
					t.Errorf("%s, with %s (-want +got):\n%s", from, a.Outcome, diff)
				}
				if w.Alarm != "" {
					alarms[w.Alarm]++
				}
				if w.State == pending { // the money of this one is needed for the next
					s.sendResult(r, Answer{Outcome: Failed})
				}
				if w.State == success {
					s.sendResult(r, Answer{Outcome: Reversed})
				}
			}
		}
		for _, kind := range []string{late, wrong} {
			if got := s.metric("vayu_recharge_alarms_total", "kind", kind); got != alarms[kind] {
				t.Errorf("%v alarms %s are counted, want %v", got, kind, alarms[kind])
			}
		}
		s.balance(1000_00, 0)
		if got := s.audited(); len(got) == 0 || got[len(got)-1] != "recharge.refunded provider:fake" {
			t.Errorf("the audit log ends with %q", got[max(0, len(got)-1)])
		}
	})
}

// The message of a failure comes from a table, not from the provider.
func TestFailureTexts(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		for code, want := range map[schema.Code]schema.Code{
			schema.InvalidNumber: schema.InvalidNumber, schema.InsufficientBalance: schema.InsufficientBalance, schema.AmountNotSupported: schema.AmountNotSupported,
			schema.OperatorNetworkError: schema.OperatorNetworkError, "": schema.OperatorNetworkError, "unheard_of": schema.OperatorNetworkError,
		} {
			s.fake.set(func() { s.fake.submit = answers(Answer{Outcome: Failed, Code: code, Reason: "<script>"}) })
			r := s.do(s.request())
			if r.State != schema.RechargeFailed || r.ErrorCode != want || !strings.HasSuffix(r.ErrorMessage, "Nothing was charged.") {
				t.Errorf("%q: got %s, %q, %q", code, r.State, r.ErrorCode, r.ErrorMessage)
			}
		}
		s.balance(1000_00, 0)
	})
}

func TestProviderTextIsTruncated(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() {
			s.fake.submit = answers(Answer{Outcome: Succeeded, ProviderRef: "a\x00\xff\nb" + strings.Repeat("ह", 100), Circle: "Delhi\x00"})
		})
		r := s.do(s.request())
		if r.State != schema.RechargeSuccess || r.ProviderRef != "ab"+strings.Repeat("ह", 32) || r.Circle != "Delhi" {
			t.Errorf("got %s, %q in %q", r.State, r.ProviderRef, r.Circle)
		}
	})
}

// Without the lease only a final outcome is applied, and the lease of another holder is
// unchanged.
func TestOnlyFinalOutcomeCountsWithoutLease(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.reach(schema.RechargePending)
		other := workqueue.Lease{Token: "of another instance", Until: noon.Add(time.Hour)}
		w := providerResult{Answer: Answer{Outcome: Pending}, call: callEnquire, reference: r.Reference, calledAt: s.Now(), by: actor}
		out, err := s.settle(t.Context(), &r, &w, other)
		if err != nil || out.Tries != r.Tries || s.dueIn(r.ID) != transaction.MinPause {
			t.Errorf("pending: %+v, %v, due in %s", out.Record, err, s.dueIn(r.ID))
		}
		w.Outcome, w.calledAt = Unknown, noon.Add(time.Hour)
		if out, err := s.settle(t.Context(), &r, &w, other); err != nil || out.transition != noop {
			t.Errorf("unknown: %+v, %v: it would be sent again without a lease", out, err)
		}
		w.Outcome = Succeeded
		if out, err := s.settle(t.Context(), &r, &w, other); err != nil || out.State != schema.RechargeSuccess {
			t.Errorf("succeeded: %+v, %v", out.Record, err)
		}
		w.Outcome = Failed // as it was seen before
		if out, err := s.settle(t.Context(), &r, &w, other); err != nil || out.State != schema.RechargeSuccess || out.Alarm != alarmLateFailure {
			t.Errorf("failed: %+v, %v", out.Record, err)
		}
		s.balance(900_00, 0)
	})
}

// That an order was not sent only counts with the lease: another holder may have sent it
// since.
func TestNotSentNeedsTheLease(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		called, goOn := make(chan struct{}), make(chan struct{})
		s.fake.set(func() {
			s.fake.submit = func(Order) (Answer, error) { close(called); <-goOn; return Answer{}, httpconnector.ErrNotSent }
			s.fake.enquire = answers(Answer{Outcome: Unknown})
		})
		made, _, err := s.Do(t.Context(), s.request(), 0)
		if err != nil {
			t.Fatal(err)
		}
		<-called
		frozen := s.Service
		s.restart(s.DB)
		s.fake.set(func() { s.fake.submit = answers(Answer{Outcome: Pending}) })
		s.fake.calls()
		s.advance(2 * time.Minute)
		if diff := cmp.Diff([]string{"enquire Airtel", "submit Airtel"}, s.fake.calls()); diff != "" {
			t.Error(diff)
		}
		close(goOn)
		frozen.Queue.Wait()
		if got := s.find(made.ID); got.State != schema.RechargePending {
			t.Errorf("it is %s while the operator has it", got.State)
		}
		s.balance(900_00, 100_00)
	})
}

func TestUnknownReference(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.reach(schema.RechargePending)
		for _, c := range []struct {
			world    schema.World
			provider string
			ref      string
		}{
			{schema.Live, "fake", "txn_none"}, {schema.Live, "fake", ""}, {schema.Live, "fake", "'; --"}, {schema.Live, "fake", r.ID + "-2"},
			{schema.Live, "other", r.ID}, {schema.Sandbox, "fake", r.ID},
		} {
			_, err := s.Settle(t.Context(), c.world, c.provider, c.ref, Answer{Outcome: Succeeded}, "test")
			wantProblem(t, err, schema.NotFound, "")
		}
		if _, err := s.Settle(t.Context(), schema.Live, "fake", r.ID, Answer{Outcome: 17}, "test"); err == nil {
			t.Error("an outcome that is none was taken")
		}
		if got := s.find(r.ID); got.State != schema.RechargePending {
			t.Errorf("it is %s", got.State)
		}
	})
}

// A late success of a recharge that failed before any call raises an alarm. Nothing was
// reserved, so nothing is booked to suspense.
func TestLateSuccessOfUnsentRecharge(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		q := s.request()
		q.Amount = 1000_01
		r := s.do(q)
		if r.State != schema.RechargeFailed || r.ErrorCode != schema.InsufficientBalance || r.Provider != "" {
			t.Fatalf("got %+v", r)
		}
		for range 2 {
			got, err := s.Settle(t.Context(), schema.Live, "fake", r.ID, Answer{Outcome: Succeeded}, "test")
			if err != nil || got.State != schema.RechargeFailed || got.Alarm != alarmLateSuccess {
				t.Errorf("got %+v, %v", got, err)
			}
		}
		if got := s.metric("vayu_recharge_alarms_total", "kind", "late_success"); got != 1 {
			t.Errorf("%v alarms are counted", got)
		}
		s.balance(1000_00, 0)
	})
}
