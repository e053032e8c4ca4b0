package verify

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

var errTimeout = context.DeadlineExceeded

// A callback settles once. A later contradiction is counted and changes nothing.
func TestCallbackSettles(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending}) })
		r := s.do(s.request())
		for _, vague := range []bank.Answer{{Outcome: bank.Pending}, {Outcome: bank.Unknown}, {Outcome: bank.NotMade}} { // no change
			if got := s.callback(r, vague); got.State != schema.VerificationPending {
				t.Errorf("%s: got %+v", vague.Outcome, got)
			}
			s.wantDue("as before", r.ID, transaction.MinPause)
		}
		if got := s.callback(r, foundAnswer("RAHUL SHARMA")); got.State != schema.VerificationSuccess || !got.Verified || got.ProviderRef != "theirs" {
			t.Errorf("got %+v", got)
		}
		was := s.record(r.ID)
		for range 2 {
			s.callback(r, foundAnswer("SOMEBODY ELSE"))
			s.callback(r, bank.Answer{Outcome: bank.NotFound})
			s.callback(r, bank.Answer{Outcome: bank.Pending})
		}
		if diff := cmp.Diff(was, s.record(r.ID)); diff != "" {
			t.Errorf("afterwards (-was +is):\n%s", diff)
		}
		if got := s.metric("vayu_verify_contradictions_total", "provider", "puppet"); got != 2 {
			t.Errorf("%v contradictions are counted, want 2", got)
		}
		s.advance(time.Hour)
		s.wantCalls("in all", "deposit")
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
		if diff := cmp.Diff([]string{"verification.create key_1", "verification.success provider:puppet"}, s.audited()); diff != "" {
			t.Error(diff)
		}
	})
}

// A callback may precede the answer. The answer then changes nothing, and a contradiction is
// counted.
func TestCallbackBeforeAnswer(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		answer         bank.Answer
		contradictions float64
	}{"the same": {foundAnswer("RAHUL SHARMA"), 0}, "the opposite": {bank.Answer{Outcome: bank.NotFound}, 1}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *serviceFixture) {
				s.bank.set(func() {
					s.bank.deposit = func(o bank.Order) (bank.Answer, error) {
						_, err := s.Settle(t.Context(), schema.Live, "puppet", o.Reference, foundAnswer("RAHUL SHARMA"), "provider:puppet")
						return c.answer, err
					}
				})
				r, _, err := s.Do(t.Context(), s.request(), time.Minute, false)
				if err != nil || r.State != schema.VerificationSuccess {
					t.Errorf("got %+v, %v", r, err)
				}
				s.Queue.Wait()
				s.wantFinal(r.ID, schema.VerificationSuccess, completed)
				if got := s.metric("vayu_verify_contradictions_total", "provider", "puppet"); got != c.contradictions {
					t.Errorf("%v contradictions are counted, want %v", got, c.contradictions)
				}
				if got := s.metric("vayu_verify_outcomes_total"); got != 1 {
					t.Errorf("%v outcomes are counted, want 1", got)
				}
			})
		})
	}
}

// Concurrent equal callbacks have one effect.
func TestConcurrentCallbacksSettleOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.addBatch("bat_1", 1)
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending}) })
		single, q := s.do(s.request()), s.request()
		q.Item = &transaction.BatchItem{Batch: "bat_1", Index: 0}
		of := s.do(q)
		var all sync.WaitGroup
		for range 20 {
			for _, r := range []Record{single, of} {
				all.Go(func() { s.callback(r, foundAnswer("RAHUL SHARMA")) })
			}
		}
		all.Wait()
		if got := strings.Join(s.events(), " "); got != completed+" verification.bulk.completed" && got != "verification.bulk.completed "+completed {
			t.Errorf("events: %s", got)
		}
		if got := s.texts("SELECT state || ' ' || successful || ' ' || failed FROM batch"); got[0] != "completed 1 0" {
			t.Errorf("the batch is %s", got)
		}
	})
}

// A callback for another provider, or with an undefined outcome, is refused.
func TestInvalidCallbackIsRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending}) })
		r := s.do(s.request())
		settle := func(world schema.World, provider, reference string, a bank.Answer) error {
			_, err := s.Settle(t.Context(), world, provider, reference, a, "x")
			return err
		}
		accesstest.WantProblem(t, settle(schema.Sandbox, "puppet", r.ID, foundAnswer("A")), schema.NotFound, "")
		accesstest.WantProblem(t, settle(schema.Live, "another", r.ID, foundAnswer("A")), schema.NotFound, "")
		accesstest.WantProblem(t, settle(schema.Live, "puppet", "ver_01M7Q5CQYX0N5Z2V5YB9E1WQ3R", foundAnswer("A")), schema.NotFound, "")
		accesstest.WantProblem(t, settle(schema.Live, "puppet", "\x00", foundAnswer("A")), schema.NotFound, "")
		odd := foundAnswer("A")
		odd.Account.Status = "asleep"
		for _, a := range []bank.Answer{{Outcome: 17}, {Outcome: -1}, odd} {
			if err := settle(schema.Live, "puppet", r.ID, a); err == nil {
				t.Errorf("%+v was taken", a)
			}
		}
		s.wantDue("after all of it", r.ID, transaction.MinPause)
	})
}

// Bank texts are stored in a form that every store and client accepts.
func TestBankTextIsCleaned(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		a := foundAnswer("RA\x00HUL\xff SHARMA\n" + strings.Repeat("र", 500))
		a.ProviderRef, a.UTR, a.Account.Bank, a.Account.Branch = "p\x00", strings.Repeat("9", 1000), "B\x1bank", strings.Repeat("न", 1000)
		a.Account.Reasons = []string{"in debt to us", bank.ReportedFraud, bank.ReportedFraud, ""}
		s.bank.set(func() { s.bank.deposit = answers(a) })
		r := s.do(s.request())
		f := r.Beneficiary
		if diff := cmp.Diff([]string{bank.FlaggedByBank, bank.ReportedFraud}, f.SuspiciousReasons); diff != "" {
			t.Errorf("reasons: %s", diff)
		}
		if !f.Suspicious {
			t.Error("f.Suspicious is false")
		}
		switch {
		case !strings.HasPrefix(f.BeneficiaryName, "RAHUL SHARMA र"):
			t.Errorf("f.BeneficiaryName = %q, want the prefix %q", f.BeneficiaryName, "RAHUL SHARMA र")
		case utf8.RuneCountInString(f.BeneficiaryName) > longestBankText:
			t.Errorf("got %+v", r)
		case r.ProviderRef != "p":
			t.Errorf("r.ProviderRef = %q, want \"p\"", r.ProviderRef)
		case utf8.RuneCountInString(r.UTR) != longestBankText:
			t.Errorf("got %+v", r)
		case f.Bank != "Bank":
			t.Errorf("f.Bank = %q, want \"Bank\"", f.Bank)
		case utf8.RuneCountInString(f.Branch) > longestBankText:
			t.Errorf("got %+v", r)
		}
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}
