package verify

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/workqueue"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// wantTimeline checks the steps of a verification, as "act answer times", between created and
// the end.
func (s *serviceFixture) wantTimeline(id string, want ...string) (shown schema.VerificationDetail) {
	s.t.Helper()
	door := accesstest.NewClient(s.t, accesstest.Access(s.t, s.DB, time.Now), s.Routes())
	reply := door.Do(s.tenant.Keys[schema.Live], "GET", path+"/"+id+"?view=detail", "").Want(s.t, "a story", 200)
	if err := json.Unmarshal([]byte(reply.Text), &shown); err != nil {
		s.t.Fatal(err)
	}
	var steps []string
	for _, step := range shown.Steps {
		text := fmt.Sprint(step.Act, " ", step.Answer)
		if step.Times > 1 {
			text += fmt.Sprint(" ", step.Times)
		}
		steps = append(steps, text)
	}
	if diff := cmp.Diff(append([]string{"created recorded"}, want...), steps); diff != "" {
		s.t.Errorf("the story (-want +got):\n%s", diff)
	}
	return shown
}

const countSteps = "SELECT count(*) FROM upstream_step"

// An immediate answer writes no step.
func TestImmediateOutcomeStoresNoSteps(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		good, address := s.do(s.request()), s.do(s.address())
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.NotFound}) })
		missing := s.do(s.request())
		if n := s.number(countSteps); n != 0 {
			t.Errorf("%d steps are stored", n)
		}
		got := s.wantTimeline(good.ID, "deposit found", "settled success")
		switch {
		case got.Provider != "puppet":
			t.Errorf("Provider = %q, want \"puppet\"", got.Provider)
		case got.ProviderRef != "theirs":
			t.Errorf("ProviderRef = %q, want \"theirs\"", got.ProviderRef)
		case got.Enquiries != 0:
			t.Errorf("Enquiries = %v, want 0", got.Enquiries)
		case got.NextEnquiryAt != "":
			t.Errorf("NextEnquiryAt = %q, want none", got.NextEnquiryAt)
		case got.Beneficiary == nil:
			t.Error("Beneficiary is nil")
		}
		s.wantTimeline(address.ID, "resolve found", "settled success")
		s.wantTimeline(missing.ID, "deposit not_found", "settled failed")
		door := accesstest.NewClient(t, accesstest.Access(t, s.DB, time.Now), s.Routes())
		key := s.tenant.Keys[schema.Live]
		door.Do(key, "GET", path+"/"+good.ID+"?view=full", "").WantError(t, "another view", 400, schema.InvalidRequest, "view")
		door.Do(key, "GET", path+"/ver_01KAJ0C5T7V9X1Z3B5D7F9H1K3?view=detail", "").WantError(t, "of nothing", 404, schema.NotFound, "")
	})
}

// Every failure of a bank has its own step. Consecutive equal steps are merged.
func TestTimelineHasEveryDelay(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		set := func(deposit, enquire func(bank.Order) (bank.Answer, error)) {
			s.bank.set(func() { s.bank.deposit, s.bank.enquire = deposit, enquire })
		}
		set(fails(errBreaker), nil)
		r := s.do(s.request())
		s.advance(workqueue.RetryPause)
		set(fails(errUnsent), nil)
		s.advance(workqueue.RetryPause)
		set(answers(bank.Answer{Outcome: bank.NotMade}), nil)
		s.advance(time.Minute)
		set(fails(errLost), answers(bank.Answer{Outcome: bank.Pending}))
		s.advance(time.Minute)
		for range 100 {
			s.advance(transaction.MaxPause)
		}
		set(answers(bank.Answer{Outcome: bank.Pending}), answers(bank.Answer{Outcome: -1}))
		s.advance(transaction.MaxPause)
		set(answers(bank.Answer{Outcome: bank.Pending}), answers(bank.Answer{Outcome: bank.Unknown}))
		s.advance(transaction.MaxPause)
		if got := s.wantTimeline(r.ID, "deposit not_asked 2", "deposit not_connected", "deposit not_made", "deposit no_answer", "enquire pending 100",
			"enquire not_understood", "enquire unknown", "deposit pending"); got.NextEnquiryAt == "" || got.Status != schema.VerificationPending {
			t.Errorf("got %+v", got)
		}
		for _, outcome := range []bank.Outcome{bank.Pending, bank.Pending, bank.NotFound, bank.NotFound} {
			if _, err := s.Settle(t.Context(), schema.Live, "puppet", r.ID, bank.Answer{Outcome: outcome}, "provider:puppet"); err != nil {
				t.Fatal(err)
			}
		}
		s.wantTimeline(r.ID, "deposit not_asked 2", "deposit not_connected", "deposit not_made", "deposit no_answer", "enquire pending 100",
			"enquire not_understood", "enquire unknown", "deposit pending", "callback pending 2", "callback not_found", "settled failed")
	})
}

// A verification that is given up has no outcome of a bank. Its steps are deleted with it.
func TestStepsAreDeletedWithVerification(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.set(func(c *Settings) { c.Retention = time.Hour })
		s.bank.set(func() { s.bank.resolve = answers(bank.Answer{Outcome: bank.Pending}) })
		young := s.do(s.address())
		s.clock.Advance(s.settings.GiveUp)
		s.advance(0)
		s.wantTimeline(young.ID, "resolve pending 2", "settled failed")
		s.bank.set(func() { s.bank.resolve = answers(bank.Answer{Outcome: bank.Pending}) })
		s.clock.Advance(2 * time.Hour)
		other := s.do(s.address())
		s.deleteOld(t.Context())
		if got := s.texts("SELECT DISTINCT subject FROM upstream_step"); len(got) != 1 || got[0] != other.ID {
			t.Errorf("there are steps of %q, want %s", got, other.ID)
		}
	})
}

// With clock skew between instances, steps remain in the order in which they were recorded.
func TestTimelineOrderWithClockSkew(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() {
			s.bank.deposit = func(bank.Order) (bank.Answer, error) {
				s.clock.Advance(100 * time.Millisecond)
				return bank.Answer{Outcome: bank.Pending}, nil
			}
		})
		r := s.do(s.request())
		s.clock.Advance(-60 * time.Millisecond)
		if _, err := s.Settle(t.Context(), schema.Live, "puppet", r.ID, bank.Answer{Outcome: bank.NotFound}, "provider:puppet"); err != nil {
			t.Fatal(err)
		}
		s.wantTimeline(r.ID, "deposit pending", "callback not_found", "settled failed")
	})
}
