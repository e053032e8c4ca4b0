package recharge

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// every contains every answer, in the order of outcomes.
var every = [...]order.Answer{
	order.Pending: {Outcome: order.Pending}, order.Succeeded: {Outcome: order.Succeeded}, order.Failed: {Outcome: order.Failed, Code: schema.InvalidNumber},
	order.NotSubscriber: {Outcome: order.NotSubscriber}, order.Unknown: {Outcome: order.Unknown}, order.Reversed: {Outcome: order.Reversed},
}

// reach brings a new recharge into a state.
func (s *serviceFixture) reach(to schema.RechargeState) record.Record {
	s.t.Helper()
	first := map[schema.RechargeState]order.Answer{
		schema.RechargePending: {Outcome: order.Pending}, schema.RechargeSuccess: {Outcome: order.Succeeded},
		schema.RechargeFailed: {Outcome: order.Failed}, schema.RechargeRefunded: {Outcome: order.Succeeded},
	}[to]
	s.fake.set(func() { s.fake.submit = answers(first) })
	r := s.do(s.request())
	if to == schema.RechargeRefunded {
		s.sendResult(r, order.Answer{Outcome: order.Reversed})
		r = s.find(r.ID)
	}
	if r.State != to {
		s.t.Fatalf("it is %s, want %s", r.State, to)
	}
	return r
}

// sendResult applies a callback of the fake provider.
func (s *serviceFixture) sendResult(r record.Record, a order.Answer) record.Record {
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
			order.Pending: {State: pending}, order.Succeeded: {State: success, Event: "recharge.completed"}, order.Failed: {State: failed, Event: "recharge.failed"},
			order.NotSubscriber: {State: failed, Event: "recharge.failed"}, order.Unknown: {State: pending}, order.Reversed: {State: failed, Event: "recharge.failed"},
		},
		success: {
			order.Pending: {State: success}, order.Succeeded: {State: success}, order.Failed: {State: success, Alarm: wrong}, order.NotSubscriber: {State: success, Alarm: wrong},
			order.Unknown: {State: success}, order.Reversed: {State: refunded, Event: "recharge.refunded"},
		},
		failed: {
			order.Pending: {State: failed}, order.Succeeded: {State: failed, Alarm: late}, order.Failed: {State: failed}, order.NotSubscriber: {State: failed},
			order.Unknown: {State: failed}, order.Reversed: {State: failed},
		},
		refunded: {
			order.Pending: {State: refunded}, order.Succeeded: {State: refunded}, order.Failed: {State: refunded}, order.NotSubscriber: {State: refunded},
			order.Unknown: {State: refunded}, order.Reversed: {State: refunded},
		},
	}
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		alarms := map[string]float64{}
		for _, from := range schema.RechargeStates {
			for outcome, a := range every {
				r := s.reach(from)
				before := len(s.events())
				var first record.Record
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
					s.sendResult(r, order.Answer{Outcome: order.Failed})
				}
				if w.State == success {
					s.sendResult(r, order.Answer{Outcome: order.Reversed})
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
			s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Failed, Code: code, Reason: "<script>"}) })
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
			s.fake.submit = answers(order.Answer{Outcome: order.Succeeded, ProviderRef: "a\x00\xff\nb" + strings.Repeat("ह", 100), Circle: "Delhi\x00"})
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
		w := settle.Result{Answer: order.Answer{Outcome: order.Pending}, Call: settle.CallEnquire, Reference: r.Reference, CalledAt: s.Now(), By: actor}
		out, err := s.settler.Settle(t.Context(), &r, &w, other)
		if err != nil || out.Tries != r.Tries || s.dueIn(r.ID) != transaction.MinPause {
			t.Errorf("pending: %+v, %v, due in %s", out.Record, err, s.dueIn(r.ID))
		}
		w.Outcome, w.CalledAt = order.Unknown, noon.Add(time.Hour)
		if out, err := s.settler.Settle(t.Context(), &r, &w, other); err != nil || out.Transition != settle.Noop {
			t.Errorf("unknown: %+v, %v: it would be sent again without a lease", out, err)
		}
		w.Outcome = order.Succeeded
		if out, err := s.settler.Settle(t.Context(), &r, &w, other); err != nil || out.State != schema.RechargeSuccess {
			t.Errorf("succeeded: %+v, %v", out.Record, err)
		}
		w.Outcome = order.Failed // as it was seen before
		if out, err := s.settler.Settle(t.Context(), &r, &w, other); err != nil || out.State != schema.RechargeSuccess || out.Alarm != settle.AlarmLateFailure {
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
			s.fake.submit = func(order.Order) (order.Answer, error) {
				close(called)
				<-goOn
				return order.Answer{}, httpconnector.ErrNotSent
			}
			s.fake.enquire = answers(order.Answer{Outcome: order.Unknown})
		})
		made, _, err := s.Do(t.Context(), s.request(), 0)
		if err != nil {
			t.Fatal(err)
		}
		<-called
		frozen := s.Service
		s.restart(s.DB)
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending}) })
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
			_, err := s.Settle(t.Context(), c.world, c.provider, c.ref, order.Answer{Outcome: order.Succeeded}, "test")
			accesstest.WantProblem(t, err, schema.NotFound, "")
		}
		if _, err := s.Settle(t.Context(), schema.Live, "fake", r.ID, order.Answer{Outcome: 17}, "test"); err == nil {
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
			got, err := s.Settle(t.Context(), schema.Live, "fake", r.ID, order.Answer{Outcome: order.Succeeded}, "test")
			if err != nil || got.State != schema.RechargeFailed || got.Alarm != settle.AlarmLateSuccess {
				t.Errorf("got %+v, %v", got, err)
			}
		}
		if got := s.metric("vayu_recharge_alarms_total", "kind", "late_success"); got != 1 {
			t.Errorf("%v alarms are counted", got)
		}
		s.balance(1000_00, 0)
	})
}
