package recharge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

var by = httpapi.Who{Key: "key_2", Request: "req_2", Client: "192.0.2.2"}

func TestRefundIsGranted(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.reach(schema.RechargeSuccess)
		s.fake.set(func() { s.fake.reverse = answers(order.Answer{Outcome: order.Reversed, Reason: "theirs"}) })
		got, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "a wrong number", By: by})
		switch {
		case err != nil:
			t.Fatal(err)
		case got.State != schema.RechargeRefunded:
			t.Fatalf("State = %v, want %v", got.State, schema.RechargeRefunded)
		case got.RefundReason != "a wrong number":
			t.Fatalf("RefundReason = %q, want \"a wrong number\"", got.RefundReason)
		case !strings.HasPrefix(got.RefundID, "rfd_"):
			t.Fatalf("RefundID = %q, want the prefix %q", got.RefundID, "rfd_")
		}
		s.fake.calls()
		again, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "once more", By: by})
		if err != nil {
			t.Errorf("once more: %v", err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("once more (-want +got):\n%s", diff)
		}
		if calls := s.fake.calls(); len(calls) != 0 {
			t.Errorf("once more: calls %q, want none", calls)
		}
		if diff := cmp.Diff([]string{"recharge.create key_1", "recharge.success operator", "recharge.refund key_2", "recharge.refunded operator"}, s.audited()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"recharge.completed", "recharge.refunded"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(1000_00, 0)
	})
}

// A refund without an answer is requested again until there is one, each time after a
// status enquiry.
func TestRefundWithoutAnswerIsRetried(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(order.Order) (order.Answer, error){
		"pending": answers(order.Answer{Outcome: order.Pending}), "error": fails(errLost), "not sent": fails(httpconnector.ErrNotSent), "still carried out": answers(order.Answer{Outcome: order.Succeeded}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
				r := s.reach(schema.RechargeSuccess)
				s.fake.set(func() { s.fake.reverse = say })
				got, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "not wanted", By: by})
				switch {
				case err != nil:
					t.Fatal(err)
				case got.State != schema.RechargeSuccess:
					t.Fatalf("State = %v, want %v", got.State, schema.RechargeSuccess)
				case got.RefundID == "":
					t.Fatal("RefundID is empty")
				case s.dueIn(r.ID) != transaction.MinPause:
					t.Fatalf("s.dueIn(r.ID) = %v, want %v", s.dueIn(r.ID), transaction.MinPause)
				}
				s.fake.calls()
				if again, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "not wanted", By: by}); err != nil || again.RefundID != got.RefundID {
					t.Errorf("again: %+v, %v, want the RefundID %q", again, err, got.RefundID)
				}
				if calls := s.fake.calls(); len(calls) != 0 {
					t.Errorf("again: calls %q, want none", calls)
				}
				s.advance(transaction.MinPause)
				s.fake.set(func() { s.fake.reverse = answers(order.Answer{Outcome: order.Reversed}) })
				s.advance(2 * transaction.MinPause)
				if diff := cmp.Diff([]string{"enquire Airtel", "reverse Airtel", "enquire Airtel", "reverse Airtel"}, s.fake.calls()); diff != "" {
					t.Error(diff)
				}
				if got := s.find(r.ID); got.State != schema.RechargeRefunded {
					t.Errorf("it is %s", got.State)
				}
				s.balance(1000_00, 0)
			})
		})
	}
}

func TestRefusedRefundIsWithdrawn(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.reach(schema.RechargeSuccess)
		s.fake.set(func() { s.fake.reverse = answers(order.Answer{Outcome: order.Failed}) })
		for range 2 {
			_, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "not wanted", By: by})
			accesstest.WantProblem(t, err, schema.InvalidRequest, "id")
			if diff := cmp.Diff(r, s.find(r.ID)); diff != "" {
				t.Errorf("it has changed: %s", diff)
			}
		}
		s.fake.set(func() { s.fake.reverse = fails(errLost) })
		if _, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "not wanted", By: by}); err != nil {
			t.Fatal(err)
		}
		s.fake.set(func() { s.fake.reverse = answers(order.Answer{Outcome: order.Failed}) })
		s.advance(transaction.MinPause)
		if diff := cmp.Diff(r, s.find(r.ID), cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Tries" }, cmp.Ignore())); diff != "" {
			t.Errorf("it has changed: %s", diff)
		}
		if got := s.audited(); got[len(got)-1] != "recharge.refund_refused operator" {
			t.Errorf("the audit log ends with %q", got[len(got)-1])
		}
		s.balance(900_00, 0)
	})
}

// A refund whose answer was lost may have been granted. A later refusal does not prove the
// contrary.
func TestLostRefundAnswerIsConfirmed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stands   []order.Answer // results of the enquiries, in order
		want     schema.RechargeState
		received []string
	}{
		"granted":              {[]order.Answer{{Outcome: order.Reversed}}, schema.RechargeRefunded, []string{"enquire"}},
		"granted at last":      {[]order.Answer{{Outcome: order.Succeeded}, {Outcome: order.Reversed}}, schema.RechargeRefunded, []string{"enquire", "reverse", "enquire"}},
		"refused":              {[]order.Answer{{Outcome: order.Succeeded}, {Outcome: order.Succeeded}}, schema.RechargeSuccess, []string{"enquire", "reverse", "enquire"}},
		"not known":            {[]order.Answer{{Outcome: order.Unknown}, {Outcome: order.Pending}, {Outcome: order.Reversed}}, schema.RechargeRefunded, []string{"enquire", "enquire", "enquire"}},
		"not known afterwards": {[]order.Answer{{Outcome: order.Succeeded}, {Outcome: order.Pending}, {Outcome: order.Reversed}}, schema.RechargeRefunded, []string{"enquire", "reverse", "enquire", "enquire"}},
		"reported as failed":   {[]order.Answer{{Outcome: order.Failed}, {Outcome: order.Failed}, {Outcome: order.Reversed}}, schema.RechargeRefunded, []string{"enquire", "enquire", "enquire"}},
		"undefined outcome":    {[]order.Answer{{Outcome: 99}, {Outcome: order.Reversed}}, schema.RechargeRefunded, []string{"enquire", "enquire"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
				r := s.reach(schema.RechargeSuccess)
				s.fake.set(func() { s.fake.reverse = fails(errLost) })
				if got, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "not wanted", By: by}); err != nil || got.RefundID == "" {
					t.Fatalf("got %+v, %v", got, err)
				}
				results := c.stands
				s.fake.set(func() {
					s.fake.reverse = answers(order.Answer{Outcome: order.Failed}) // nothing is left to refund
					s.fake.enquire = func(order.Order) (order.Answer, error) {
						a := results[0]
						results = results[1:]
						return a, nil
					}
				})
				s.fake.calls()
				for len(results) > 0 {
					if got := s.find(r.ID); got.State != schema.RechargeSuccess || got.RefundID == "" || s.dueIn(r.ID) <= 0 {
						t.Fatalf("it is %s with the refund %q, due in %s", got.State, got.RefundID, s.dueIn(r.ID))
					}
					s.advance(transaction.MaxPause)
				}
				if got := s.find(r.ID); got.State != c.want || (got.RefundID == "") != (c.want == schema.RechargeSuccess) {
					t.Errorf("it is %s with the refund %q", got.State, got.RefundID)
				}
				if diff := cmp.Diff(strings.Join(c.received, " Airtel ")+" Airtel", strings.Join(s.fake.calls(), " ")); diff != "" {
					t.Error(diff)
				}
				s.fake.set(func() { s.fake.enquire = nil })
				s.advance(0) // an enquiry follows the refusal
			})
		})
	}
}

// A refusal only counts with the lease: another holder may have been granted the refund.
func TestRefusalNeedsTheLease(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.reach(schema.RechargeSuccess)
		s.fake.set(func() { s.fake.reverse = fails(errLost) })
		r, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "not wanted", By: by})
		if err != nil {
			t.Fatal(err)
		}
		w := settle.Result{Answer: order.Answer{Outcome: order.Failed}, Call: settle.CallReverse, Reference: r.Reference, CalledAt: s.Now(), By: actor}
		out, err := s.settler.Settle(t.Context(), &r, &w, workqueue.Lease{Token: "of another instance", Until: noon.Add(time.Hour)})
		switch got := s.find(r.ID); {
		case err != nil:
			t.Error(err)
		case out.Transition != settle.Noop:
			t.Errorf("out.transition = %v, want %v", out.Transition, settle.Noop)
		case got.RefundID != r.RefundID:
			t.Errorf("RefundID = %q, want %q", got.RefundID, r.RefundID)
		case s.dueIn(r.ID) != transaction.MinPause:
			t.Errorf("s.dueIn(r.ID) = %v, want %v", s.dueIn(r.ID), transaction.MinPause)
		}
	})
}

// A requested enquiry about a final recharge is made even after a refused refund.
func TestRefusedRefundKeepsRequestedEnquiry(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() {
			s.fake.submit = answers(order.Answer{Outcome: order.Succeeded, RetryAfter: time.Hour})
			s.fake.reverse = answers(order.Answer{Outcome: order.Failed})
			s.fake.enquire = answers(order.Answer{Outcome: order.Succeeded, RetryAfter: time.Hour})
		})
		r := s.do(s.request())
		_, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "not wanted", By: by})
		accesstest.WantProblem(t, err, schema.InvalidRequest, "id")
		s.fake.calls()
		s.advance(0)
		if diff := cmp.Diff([]string{"enquire Airtel"}, s.fake.calls()); diff != "" || s.dueIn(r.ID) != time.Hour {
			t.Errorf("it is due in %s, and the provider received %s", s.dueIn(r.ID), diff)
		}
		s.fake.set(func() { s.fake.enquire = answers(order.Answer{Outcome: order.Reversed}) })
		s.advance(time.Hour)
		if got := s.find(r.ID); got.State != schema.RechargeRefunded {
			t.Errorf("it is %s", got.State)
		}
		s.fake.set(func() { s.fake.enquire = answers(order.Answer{Outcome: order.Succeeded}) })
		other := s.reach(schema.RechargeSuccess) // no enquiry is requested about this one
		_, err = s.Refund(t.Context(), s.owner, other.ID, RefundRequest{Reason: "not wanted", By: by})
		accesstest.WantProblem(t, err, schema.InvalidRequest, "id")
		s.advance(0)
		s.fake.calls()
		s.advance(24 * time.Hour)
		if got := s.fake.calls(); len(got) != 0 {
			t.Errorf("afterwards it received %q", got)
		}
		s.balance(900_00, 0)
	})
}

func TestRefundableStates(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		for state, word := range map[schema.RechargeState]string{schema.RechargePending: "pending", schema.RechargeFailed: "failed"} {
			_, err := s.Refund(t.Context(), s.owner, s.reach(state).ID, RefundRequest{By: by})
			if p := accesstest.WantProblem(t, err, schema.InvalidRequest, "id"); !strings.Contains(p.Message, word) {
				t.Errorf("%s: %q", state, p.Message)
			}
		}
		r := s.reach(schema.RechargeSuccess)
		_, err := s.Refund(t.Context(), schema.Owner{Account: s.owner.Account, World: schema.Sandbox}, r.ID, RefundRequest{By: by})
		accesstest.WantProblem(t, err, schema.NotFound, "")
		_, err = s.Refund(t.Context(), s.owner, "txn_none", RefundRequest{By: by})
		accesstest.WantProblem(t, err, schema.NotFound, "")
		s.connections[0].Reverser = nil
		_, err = s.Refund(t.Context(), s.owner, r.ID, RefundRequest{By: by})
		accesstest.WantProblem(t, err, schema.Forbidden, "")
		if diff := cmp.Diff(r, s.find(r.ID)); diff != "" {
			t.Errorf("it has changed: %s", diff)
		}
	})
}

// Concurrent refund requests reach the provider once and have one effect.
func TestConcurrentRefundsHaveOneEffect(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.reach(schema.RechargeSuccess)
		s.fake.calls()
		s.fake.set(func() { s.fake.reverse = answers(order.Answer{Outcome: order.Reversed}) })
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := s.Refund(context.Background(), s.owner, r.ID, RefundRequest{By: by}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s.Queue.Wait()
		s.fake.set(func() { s.fake.enquire = nil })
		s.advance(0) // who was first may have found all slots with those who were not
		received := slices.DeleteFunc(s.fake.calls(), func(call string) bool { return call == "enquire Airtel" })
		if diff := cmp.Diff([]string{"reverse Airtel"}, received); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"recharge.completed", "recharge.refunded"}, s.events()); diff != "" {
			t.Error(diff)
		}
		s.balance(1000_00, 0)
	})
}

// A ported number is redirected to its operator once, as another order.
func TestPortedNumberIsRedirectedOnce(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]func(p *fakeProvider) []order.Connection{
		"of the same provider": func(*fakeProvider) []order.Connection { return nil },
		"of another": func(p *fakeProvider) []order.Connection {
			c := p.connection()
			c.Name, c.Operators = "second", []string{"Jio"}
			return []order.Connection{c}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { portedNumber(t, db, second) })
		})
	}
}

func portedNumber(t *testing.T, db *sqlstore.DB, second func(*fakeProvider) []order.Connection) {
	t.Helper()
	other := &fakeProvider{}
	more := second(other)
	s := newServiceFixture(t, db, more...)
	provider, looked := "fake", false
	if more != nil {
		provider = "second"
		s.connections[0].Operators = []string{"Airtel"}
	}
	s.fake.set(func() {
		s.fake.detect = func(string) (order.Subscriber, error) {
			if !looked {
				looked = true
				return order.Subscriber{}, errLost // then the series says who it was
			}
			return order.Subscriber{Operator: "Jio", Circle: "Mumbai"}, nil
		}
		s.fake.submit = func(o order.Order) (order.Answer, error) {
			if o.Operator != "Jio" {
				return order.Answer{Outcome: order.NotSubscriber}, nil
			}
			return order.Answer{Outcome: order.Succeeded}, nil
		}
	})
	q := s.request()
	q.RequestedOperator = ""
	got, _, err := s.Do(t.Context(), q, time.Minute)
	s.Queue.Wait()
	switch {
	case err != nil:
		t.Fatal(err)
	case got.State != schema.RechargeSuccess:
		t.Fatalf("State = %v, want %v", got.State, schema.RechargeSuccess)
	case got.Operator != "Jio":
		t.Fatalf("Operator = %q, want \"Jio\"", got.Operator)
	case got.Circle != "Mumbai":
		t.Fatalf("Circle = %q, want \"Mumbai\"", got.Circle)
	case got.Detection != record.SourceLookup:
		t.Fatalf("Detection = %v, want %v", got.Detection, record.SourceLookup)
	case got.Provider != provider:
		t.Fatalf("Provider = %v, want %v", got.Provider, provider)
	case got.Reference != got.ID+"-2":
		t.Fatalf("Reference = %q, want %q", got.Reference, got.ID+"-2")
	}
	if got := s.metric("vayu_recharge_redetections_total"); got != 1 {
		t.Errorf("%v redetections are counted", got)
	}
	for _, l := range s.connections {
		if got := l.Slots(); got.InFlight != 0 || got.BatchInFlight != 0 {
			t.Errorf("%s has slots taken: %+v", l.Name, got)
		}
	}
	// A success of the first order now contradicts its final state.
	for range 2 {
		late, err := s.Settle(t.Context(), schema.Live, "fake", got.ID, order.Answer{Outcome: order.Succeeded}, "test")
		if err != nil || late.State != schema.RechargeSuccess || late.Alarm != settle.AlarmLateSuccess {
			t.Errorf("got %+v, %v", late, err)
		}
	}
	if _, err := s.Settle(t.Context(), schema.Live, "fake", got.ID, order.Answer{Outcome: order.Failed}, "test"); err != nil {
		t.Error(err)
	}
	s.balance(900_00, 0)
}

// A failed lookup does not fail the recharge. It is repeated at the next poll or callback.
func TestFailedLookupIsRepeated(t *testing.T) {
	t.Parallel()
	for name, detect := range map[string]func(string) (order.Subscriber, error){
		"error":    func(string) (order.Subscriber, error) { return order.Subscriber{}, errLost },
		"not sent": func(string) (order.Subscriber, error) { return order.Subscriber{}, httpconnector.ErrNotSent },
		"panic":    func(string) (order.Subscriber, error) { panic("no") },
		"away":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
				alien := order.Answer{Outcome: order.NotSubscriber}
				s.fake.set(func() {
					s.fake.detect, s.fake.enquire = detect, answers(alien)
					s.fake.submit = func(order.Order) (order.Answer, error) {
						s.fake.set(func() { s.fake.away = detect == nil })
						return alien, nil
					}
				})
				q := s.request()
				q.RequestedOperator = ""
				r := s.do(q) // the series knows whose it was
				if r.State != schema.RechargePending || r.Operator != "Airtel" || s.dueIn(r.ID) != transaction.MinPause {
					t.Fatalf("got %+v, due in %s", r, s.dueIn(r.ID))
				}
				if got := s.sendResult(r, alien); got.State != schema.RechargePending || s.dueIn(r.ID) != transaction.MinPause {
					t.Errorf("after a callback: %+v, due in %s", got, s.dueIn(r.ID))
				}
				s.fake.calls()
				s.fake.set(func() {
					s.fake.away = false
					s.fake.detect = func(string) (order.Subscriber, error) { return order.Subscriber{Operator: "Jio"}, nil }
					s.fake.submit = nil
				})
				s.advance(transaction.MinPause)
				if diff := cmp.Diff([]string{"enquire Airtel", "detect", "submit Jio"}, s.fake.calls()); diff != "" {
					t.Error(diff)
				}
				if got := s.find(r.ID); got.State != schema.RechargeSuccess || got.Operator != "Jio" {
					t.Errorf("got %+v", got)
				}
				s.balance(900_00, 0)
			})
		})
	}
}

// There is no second redirect, no redirect if the client named the operator, and none
// without another operator.
func TestNoRedirectWithoutOtherOperator(t *testing.T) {
	t.Parallel()
	jio := func(string) (order.Subscriber, error) { return order.Subscriber{Operator: "Jio"}, nil }
	for name, c := range map[string]struct {
		requested string
		detect    func(string) (order.Subscriber, error)
		received  []string
	}{
		"named":     {"Airtel", jio, []string{"submit Airtel"}},
		"the same":  {"", jio, []string{"detect", "submit Jio", "detect"}},
		"not known": {"", nil, []string{"detect", "submit Airtel", "detect"}},
		"not for that": {"", func(string) (order.Subscriber, error) {
			return order.Subscriber{}, fmt.Errorf("plans only: %w", order.ErrNoDetection)
		}, []string{"detect", "submit Airtel", "detect"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
				s.fake.set(func() { s.fake.detect, s.fake.submit = c.detect, answers(order.Answer{Outcome: order.NotSubscriber}) })
				q := s.request()
				q.RequestedOperator = c.requested
				if r := s.do(q); r.State != schema.RechargeFailed || r.ErrorCode != schema.InvalidNumber {
					t.Errorf("got %+v", r)
				}
				if diff := cmp.Diff(c.received, s.fake.calls()); diff != "" {
					t.Error(diff)
				}
				s.balance(1000_00, 0)
			})
		})
	}
	t.Run("a second time", func(t *testing.T) {
		t.Parallel()
		eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
			n := 0
			s.fake.set(func() {
				s.fake.submit = answers(order.Answer{Outcome: order.NotSubscriber})
				s.fake.detect = func(string) (order.Subscriber, error) {
					n++
					return order.Subscriber{Operator: [...]string{"Airtel", "Jio", "Vi"}[n-1]}, nil
				}
			})
			q := s.request()
			q.RequestedOperator = ""
			if r := s.do(q); r.State != schema.RechargeFailed || r.ErrorCode != schema.InvalidNumber || r.Operator != "Jio" {
				t.Errorf("got %+v", r)
			}
			if diff := cmp.Diff([]string{"detect", "submit Airtel", "detect", "submit Jio"}, s.fake.calls()); diff != "" {
				t.Error(diff)
			}
		})
	})
}
