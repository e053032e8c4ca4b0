package verify

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// A bank's answer is reused for the same account of one client. It makes no call, and names
// are compared again.
func TestAnswerIsCached(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.set(func(c *Settings) { c.Cache = 24 * time.Hour })
		s.bank.set(func() { s.bank.deposit = answers(foundAnswer("R SHARMA")) })
		first := s.do(s.request())
		s.wantCalls("at first", "deposit")
		s.clock.Advance(23 * time.Hour)
		again := func(what string, change func(*request.Request)) Record {
			t.Helper()
			q := s.request()
			change(&q)
			r, replayed, err := s.Do(t.Context(), q, 0, false)
			if err != nil || replayed {
				t.Fatalf("%s: got %v, %v", what, replayed, err)
			}
			s.Queue.Wait()
			return s.record(r.ID)
		}
		same := again("the same", func(*request.Request) {})
		switch {
		case same.ID == first.ID:
			t.Errorf("same.ID is %v, want another", first.ID)
		case same.AnsweredBy != first.ID:
			t.Errorf("same.AnsweredBy = %v, want %v", same.AnsweredBy, first.ID)
		case same.State != schema.VerificationSuccess:
			t.Errorf("same.State = %v, want %v", same.State, schema.VerificationSuccess)
		case same.Encrypted != nil:
			t.Errorf("same.Encrypted = %v, want nil", same.Encrypted)
		case same.Sent:
			t.Error("same.Sent is true")
		case !same.FinishedAt.Equal(s.clock.Now()):
			t.Errorf("got %+v", same)
		case same.UTR != first.UTR:
			t.Errorf("same.UTR = %v, want %v", same.UTR, first.UTR)
		case same.Provider != "puppet":
			t.Errorf("same.Provider = %q, want \"puppet\"", same.Provider)
		}
		if diff := cmp.Diff(first.Beneficiary, same.Beneficiary); diff != "" {
			t.Errorf("the answer (-first +again):\n%s", diff)
		}
		for what, c := range map[string]struct {
			change func(*request.Request)
			match  schema.NameMatch
			passes bool
		}{
			"another name":  {func(q *request.Request) { q.Name = "Priya Nair" }, schema.NameNone, false},
			"the same name": {func(q *request.Request) { q.Name = "r. sharma" }, schema.NameExact, true},
			"no name":       {func(q *request.Request) { q.Name = "" }, schema.NameNone, true},
			"strict":        {func(q *request.Request) { q.Tolerance = request.Strict }, schema.NameNone, false},
		} {
			t.Run(what, func(t *testing.T) {
				switch r := again(what, c.change); {
				case r.Beneficiary.NameMatch != c.match:
					t.Errorf("NameMatch = %v, want %v", r.Beneficiary.NameMatch, c.match)
				case r.Verified != c.passes:
					t.Errorf("Verified = %v, want %v", r.Verified, c.passes)
				case r.AnsweredBy != first.ID:
					t.Errorf("AnsweredBy = %q, want %q", r.AnsweredBy, first.ID)
				}
			})
		}
		s.wantCalls("for what serves again")
		if got := len(s.events()); got != 6 {
			t.Errorf("%d events, want 6", got)
		}
		stranger := s.addTenant("other").In(schema.Live)
		for what, change := range map[string]func(*request.Request){
			"another account": func(q *request.Request) { q.Owner = stranger }, "another number": func(q *request.Request) { q.Account = "9" + anAccount },
			"another branch": func(q *request.Request) { q.IFSC = "HDFC0000001" },
		} {
			if r := again(what, change); r.AnsweredBy != "" {
				t.Errorf("%s is served: %+v", what, r)
			}
			s.wantCalls(what, "deposit")
		}
		q := s.request()
		q.Owner.World = schema.Sandbox
		_, _, err := s.Do(t.Context(), q, 0, false)
		accesstest.WantProblem(t, err, schema.ServiceUnavailable, fieldMethod) // the sandbox has no bank, and answers of the live world do not count there
		s.clock.Advance(time.Hour + time.Second)                               // counted from the bank's answer, not from what it served since
		if r := again("a day later", func(*request.Request) {}); r.AnsweredBy != "" {
			t.Errorf("a day later it is served: %+v", r)
		}
		s.wantCalls("a day later", "deposit")
	})
}

// A missing account is cached, a missing outcome is not. Without a cache nothing is.
func TestOnlyOutcomesAreCached(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.set(func(c *Settings) { c.Cache = 24 * time.Hour })
		s.bank.set(func() { s.bank.resolve = answers(bank.Answer{Outcome: bank.NotFound}) })
		first := s.do(s.address())
		if again := s.do(s.address()); again.AnsweredBy != first.ID || again.ErrorCode != schema.VPANotFound || again.State != schema.VerificationFailed {
			t.Errorf("got %+v", again)
		}
		s.wantCalls("for both", "resolve")
		s.bank.set(func() {
			s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending, RetryAfter: s.Service.settings.GiveUp})
		})
		lost := s.do(s.request())
		s.bank.set(func() { s.bank.enquire = fails(errLost) })
		s.advance(s.Service.settings.GiveUp)
		if got := s.record(lost.ID); got.ErrorCode != schema.BankNetworkError {
			t.Fatalf("got %+v", got)
		}
		s.bank.calls()
		s.bank.set(func() { s.bank.deposit = nil })
		s.do(s.request())
		s.wantCalls("after one that was given up", "deposit")
		s.set(func(c *Settings) { c.Cache = 0 })
		s.do(s.request())
		s.wantCalls("without a cache", "deposit")
	})
}

// Batch records use the cache, and complete their batch.
func TestBatchRecordUsesCache(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.set(func(c *Settings) { c.Cache = time.Hour })
		s.do(s.request())
		const n = 8
		s.addBatch("bat_1", n)
		var all sync.WaitGroup
		for i := range n {
			q := s.request()
			q.Item = &transaction.BatchItem{Batch: "bat_1", Index: i}
			all.Go(func() {
				if r, _, err := s.Do(t.Context(), q, 0, false); err != nil || r.AnsweredBy == "" {
					t.Errorf("got %+v, %v", r, err)
				}
			})
		}
		all.Wait()
		s.wantCalls("in all", "deposit")
		if diff := cmp.Diff([]string{completed, "verification.bulk.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
	})
}
