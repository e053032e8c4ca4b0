package recharge

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// timeline returns the detail of a recharge, and its steps as "act answer times".
func (s *serviceFixture) timeline(id string) (shown schema.RechargeDetail, steps []string) {
	s.t.Helper()
	door := accesstest.NewClient(s.t, accesstest.Access(s.t, s.DB, time.Now), s.Routes())
	reply := door.Do(s.tenant.Keys[schema.Live], "GET", path+"/"+id+"?view=detail", "").Want(s.t, "a story", 200)
	if err := json.Unmarshal([]byte(reply.Text), &shown); err != nil {
		s.t.Fatal(err)
	}
	last := ""
	for _, step := range shown.Steps {
		if step.At < last || step.Until < step.At {
			s.t.Errorf("a step from %s to %s follows one that ended at %s: %s", step.At, step.Until, last, reply.Text)
		}
		last = step.Until
		text := fmt.Sprint(step.Act, " ", step.Answer)
		if step.Times > 1 {
			text += fmt.Sprint(" ", step.Times)
		}
		steps = append(steps, text)
	}
	return shown, steps
}

// wantTimeline checks the steps after the first.
func (s *serviceFixture) wantTimeline(id string, want ...string) schema.RechargeDetail {
	s.t.Helper()
	shown, got := s.timeline(id)
	if diff := cmp.Diff(append([]string{"created recorded"}, want...), got); diff != "" {
		s.t.Errorf("the timeline (-want +got):\n%s", diff)
	}
	return shown
}

// stepCount returns the number of stored steps.
func (s *serviceFixture) stepCount() (n int) {
	s.t.Helper()
	if err := s.DB.View(s.t.Context()).QueryRow("SELECT count(*) FROM upstream_step").Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// An immediate final answer stores no step.
func TestImmediateTimelineIsInTheRow(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		good := s.do(s.request())
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Failed, Code: schema.InvalidNumber}) })
		bad := s.do(s.request())
		q := s.request()
		q.Amount = 5000_00
		poor := s.do(q)
		if n := s.stepCount(); n != 0 {
			t.Errorf("%d steps are stored", n)
		}
		got := s.wantTimeline(good.ID, "submit succeeded", "settled success")
		switch {
		case got.Provider != "fake":
			t.Errorf("Provider = %q, want \"fake\"", got.Provider)
		case got.ProviderRef != "theirs":
			t.Errorf("ProviderRef = %q, want \"theirs\"", got.ProviderRef)
		case got.Enquiries != 0:
			t.Errorf("Enquiries = %v, want 0", got.Enquiries)
		case got.NextEnquiryAt != "":
			t.Errorf("NextEnquiryAt = %q, want none", got.NextEnquiryAt)
		case got.Status != schema.RechargeSuccess:
			t.Errorf("Status = %v, want %v", got.Status, schema.RechargeSuccess)
		}
		s.wantTimeline(bad.ID, "submit failed", "settled failed")
		s.wantTimeline(poor.ID, "settled failed")
		door := accesstest.NewClient(t, accesstest.Access(t, s.DB, time.Now), s.Routes())
		key := s.tenant.Keys[schema.Live]
		for _, query := range []string{"?view=", "?view=full", "?view=detail&view=detail"} {
			door.Do(key, "GET", path+"/"+good.ID+query, "").WantError(t, query, 400, schema.InvalidRequest, "view")
		}
		door.Do(key, "GET", path+"/txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9?view=detail", "").WantError(t, "of nothing", 404, schema.NotFound, "")
	})
}

// A hundred polls with the same answer are one step.
func TestEqualPollsAreOneStep(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		pending := answers(order.Answer{Outcome: order.Pending})
		s.fake.set(func() { s.fake.submit, s.fake.enquire = fails(errLost), pending })
		r := s.do(s.request())
		for range 100 {
			s.advance(transaction.MaxPause)
		}
		got := s.wantTimeline(r.ID, "submit no_answer", "enquire pending 100")
		next, err := time.Parse(time.RFC3339Nano, got.NextEnquiryAt)
		switch {
		case err != nil:
			t.Errorf("%q: %v", got.NextEnquiryAt, err)
		case next.Sub(s.clock.Now()) != s.dueIn(r.ID):
			t.Errorf("it is looked at at %q after %d tries, with %d steps", got.NextEnquiryAt, got.Enquiries, s.stepCount())
		case got.Enquiries != 101:
			t.Errorf("%q: Enquiries = %v, want 101", got.NextEnquiryAt, got.Enquiries)
		case s.stepCount() != 2:
			t.Errorf("it is looked at at %q after %d tries, with %d steps", got.NextEnquiryAt, got.Enquiries, s.stepCount())
		}
		s.fake.set(func() { s.fake.enquire = nil })
		s.advance(transaction.MaxPause)
		if got := s.wantTimeline(r.ID, "submit no_answer", "enquire pending 100", "enquire succeeded", "settled success"); got.NextEnquiryAt != "" {
			t.Errorf("it is looked at again at %s", got.NextEnquiryAt)
		}
	})
}

// Every failure of a call has its own answer.
func TestTimelineOfFailedCalls(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		set := func(submit, enquire func(order.Order) (order.Answer, error)) {
			s.fake.set(func() { s.fake.submit, s.fake.enquire = submit, enquire })
		}
		set(fails(httpconnector.ErrNotSent), nil)
		s.wantTimeline(s.do(s.request()).ID, "submit not_connected", "settled failed")
		set(fails(fmt.Errorf("a breaker: %w", httpconnector.ErrNotCalled)), nil)
		r := s.do(s.request())
		s.advance(workqueue.RetryPause)
		set(answers(order.Answer{Outcome: -1}), fails(httpconnector.ErrNotSent))
		s.advance(workqueue.RetryPause)
		s.advance(time.Minute)
		set(answers(order.Answer{Outcome: order.Pending}), answers(order.Answer{Outcome: order.Unknown}))
		s.advance(time.Minute)
		set(nil, answers(order.Answer{Outcome: order.Pending}))
		for _, a := range []order.Answer{{Outcome: order.Pending}, {Outcome: order.Pending}, {Outcome: order.Failed, Code: schema.InvalidNumber}, {Outcome: order.Failed}, {Outcome: order.Succeeded}, {Outcome: order.Succeeded}} {
			if _, err := s.Settle(t.Context(), schema.Live, "fake", r.ID, a, "provider:fake"); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{
			"submit not_asked 2", "submit not_understood", "enquire not_connected", "enquire unknown", "submit pending", "callback pending 2",
			"callback failed", "settled failed", "callback late_success",
		}
		if got := s.wantTimeline(r.ID, want...); got.Alarm != settle.AlarmLateSuccess {
			t.Errorf("the alarm is %q", got.Alarm)
		}
	})
}

// The timeline shows the source of each result, and a refund.
func TestTimelineOfRefund(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.do(s.request())
		s.fake.set(func() {
			s.fake.reverse, s.fake.enquire = fails(errLost), answers(order.Answer{Outcome: order.Reversed})
		})
		if _, err := s.Refund(t.Context(), s.owner, r.ID, RefundRequest{Reason: "not wanted", By: s.request().Caller}); err != nil {
			t.Fatal(err)
		}
		s.Queue.Wait()
		s.advance(transaction.MinPause)
		s.wantTimeline(r.ID, "submit succeeded", "settled success", "reverse no_answer", "enquire reversed", "settled refunded")
		for by, act := range map[string]string{settle.ByFile: "file", "command": "manual"} {
			s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending}) })
			r := s.do(s.request())
			if _, err := s.Settle(t.Context(), schema.Live, "fake", r.ID, order.Answer{Outcome: order.Succeeded}, by); err != nil {
				t.Fatal(err)
			}
			s.wantTimeline(r.ID, "submit pending", act+" succeeded", "settled success")
		}
		s.fake.set(func() { s.fake.submit, s.fake.reverse = nil, answers(order.Answer{Outcome: order.Reversed}) })
		granted := s.do(s.request())
		before := s.stepCount()
		if _, err := s.Refund(t.Context(), s.owner, granted.ID, RefundRequest{Reason: "not wanted", By: s.request().Caller}); err != nil {
			t.Fatal(err)
		}
		s.Queue.Wait()
		s.wantTimeline(granted.ID, "submit succeeded", "settled success", "settled refunded")
		if s.stepCount() != before {
			t.Error("a refund that was granted at once has steps")
		}
	})
}

// The timeline shows the redirect of a ported number.
func TestTimelineOfRedirect(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		known := false
		s.fake.set(func() {
			s.fake.detect = func(string) (order.Subscriber, error) {
				if known {
					return order.Subscriber{Operator: "Jio", Circle: "Mumbai"}, nil
				}
				known = true
				return order.Subscriber{Operator: "Airtel", Circle: "Mumbai"}, nil
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
		r := s.do(q)
		if _, err := s.Settle(t.Context(), schema.Live, "fake", r.ID, order.Answer{Outcome: order.Succeeded}, "provider:fake"); err != nil {
			t.Fatal(err)
		}
		s.wantTimeline(r.ID, "submit redirected", "submit succeeded", "settled success", "callback stray")
	})
}

// A step and its transition are written in one transaction.
func TestStepIsRecordedWithTransition(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending}) })
		r := s.do(s.request())
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE upstream_step RENAME TO elsewhere")
		s.advance(transaction.MinPause)
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE elsewhere RENAME TO upstream_step")
		if got := s.find(r.ID).State; got != schema.RechargePending {
			t.Errorf("without its step it is %s, want pending", got)
		}
		if got := s.metric("vayu_recharge_store_failures_total", "doing", "record"); got != 1 {
			t.Errorf("%v failures of the store are counted, want 1", got)
		}
		s.advance(time.Minute)
		_, got := s.timeline(r.ID)
		if !slices.Equal(got, []string{"created recorded", "submit pending", "enquire succeeded", "settled success"}) {
			t.Errorf("got %q", got)
		}
	})
}

// Steps keep their order if a clock of an instance is behind.
func TestTimelineOrderDespiteClockSkew(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() {
			s.fake.submit = func(order.Order) (order.Answer, error) {
				s.clock.Advance(100 * time.Millisecond)
				return order.Answer{Outcome: order.Pending}, nil
			}
		})
		r := s.do(s.request())
		s.clock.Advance(-60 * time.Millisecond)
		if _, err := s.Settle(t.Context(), schema.Live, "fake", r.ID, order.Answer{Outcome: order.Succeeded}, "provider:fake"); err != nil {
			t.Fatal(err)
		}
		s.wantTimeline(r.ID, "submit pending", "callback succeeded", "settled success")
		if _, err := s.Settle(t.Context(), schema.Live, "fake", r.ID, order.Answer{Outcome: order.Reversed}, "provider:fake"); err != nil {
			t.Fatal(err)
		}
		s.wantTimeline(r.ID, "submit pending", "callback succeeded", "settled success", "callback reversed", "settled refunded")
	})
}
