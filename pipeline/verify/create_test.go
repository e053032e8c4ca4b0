package verify

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vayu/internal/access/accesstest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

func TestAnAccountIsVerified(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		q := s.request()
		rec, replayed, err := s.Do(t.Context(), q, time.Minute, true)
		if err != nil || replayed {
			t.Fatalf("got %v, %v", replayed, err)
		}
		want := Record{
			Base: transaction.Base{
				Owner: s.owner, RefID: "ref-1", Provider: "puppet", ProviderRef: "theirs", Sent: true, SentAt: noon.Add(30 * time.Second), CreatedAt: noon, FinishedAt: noon,
			},
			State: schema.VerificationSuccess, Method: schema.VerifyPennyDrop, Target: "XXXXXXXXXXX0123", IFSC: aBranch,
			Named: true, Threshold: 70, Verified: true, UTR: "UTR123", Key: "key_1",
			Beneficiary: schema.Beneficiary{
				NameMatch: schema.NameExact, NameMatchScore: 100, BeneficiaryName: "RAHUL SHARMA", Bank: "State Bank", Branch: "Main Road",
				AccountStatus: schema.AccountActive, SuspiciousReasons: []string{},
			},
		}
		if diff := cmp.Diff(want, rec, cmpopts.IgnoreFields(Record{}, "ID", "Digest", "CacheKey")); diff != "" {
			t.Errorf("the verification (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(rec, s.record(rec.ID)); diff != "" {
			t.Errorf("what is stored (-returned +stored):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"verification.completed"}, s.events()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"verification.create key_1", "verification.success bank"}, s.audited()); diff != "" {
			t.Error(diff)
		}
		again, replayed, err := s.Do(t.Context(), q, time.Minute, true)
		if diff := cmp.Diff(rec, again); diff != "" || !replayed || err != nil {
			t.Errorf("replayed: %v, %v, %s", replayed, err, diff)
		}
		if got := s.metric("vayu_verify_outcomes_total", "world", "live", "provider", "puppet", "outcome", "success"); got != 1 {
			t.Errorf("%v successes are counted", got)
		}
	})
}

// The order holds the request and our id.
func TestOrderHoldsRequest(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		drop, address := s.do(s.request()), s.do(s.address())
		want := []bank.Order{
			{Reference: drop.ID, Method: schema.VerifyPennyDrop, Account: anAccount, IFSC: aBranch, CreatedAt: noon, Expected: aName},
			{Reference: address.ID, Method: schema.VerifyUPI, VPA: anAddress, CreatedAt: noon, Expected: aName},
		}
		if diff := cmp.Diff(want, s.bank.orders); diff != "" {
			t.Errorf("the orders (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"deposit", "resolve"}, s.bank.calls()); diff != "" {
			t.Error(diff)
		}
		if address.Target != "ra****ma@okaxis" || address.State != schema.VerificationSuccess || address.UTR != "UTR123" {
			t.Errorf("got %+v", address)
		}
	})
}

// The result follows from the bank's answer and the expected name.
func TestResultFollowsFromAnswer(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		type result struct {
			State     schema.VerificationState
			Verified  bool
			Match     schema.NameMatch
			Status    schema.AccountStatus
			Code      schema.Code
			Suspected bool
		}
		account := func(change func(*bank.Account)) bank.Answer {
			a := foundAnswer("RAHUL SHARMA")
			change(&a.Account)
			return a
		}
		success := func(verified bool, m schema.NameMatch, status schema.AccountStatus) result {
			return result{State: schema.VerificationSuccess, Verified: verified, Match: m, Status: status}
		}
		for what, c := range map[string]struct {
			answer    bank.Answer
			name      string
			tolerance int
			want      result
		}{
			"the same words":       {foundAnswer("SHARMA RAHUL"), aName, -1, success(true, schema.NameExact, schema.AccountActive)},
			"an initial":           {foundAnswer("R SHARMA"), aName, -1, success(true, schema.NamePartial, schema.AccountActive)},
			"an initial, strict":   {foundAnswer("R SHARMA"), aName, request.Strict, success(false, schema.NameNone, schema.AccountActive)},
			"another person":       {foundAnswer("PRIYA NAIR"), aName, -1, success(false, schema.NameNone, schema.AccountActive)},
			"another person for 0": {foundAnswer("PRIYA NAIR"), aName, 0, success(true, schema.NamePartial, schema.AccountActive)},
			"no expected name":     {foundAnswer("PRIYA NAIR"), "", -1, success(true, schema.NameNone, schema.AccountActive)},
			"the bank is silent":   {foundAnswer(""), aName, -1, success(false, schema.NameNone, schema.AccountActive)},
			"dormant":              {account(func(a *bank.Account) { a.Status = schema.AccountDormant }), aName, -1, success(false, schema.NameExact, schema.AccountDormant)},
			"closed":               {account(func(a *bank.Account) { a.Status = schema.AccountClosed }), "", -1, success(false, schema.NameNone, schema.AccountClosed)},
			"suspicious": {account(func(a *bank.Account) { a.Reasons = []string{bank.MuleAccount} }), aName, -1, result{
				State: schema.VerificationSuccess, Verified: true, Match: schema.NameExact, Status: schema.AccountActive, Suspected: true,
			}},
			"not there": {bank.Answer{Outcome: bank.NotFound}, aName, -1, result{State: schema.VerificationFailed, Match: schema.NameNone, Code: schema.AccountNotFound}},
		} {
			t.Run(what, func(t *testing.T) {
				s.bank.set(func() { s.bank.deposit = answers(c.answer) })
				q := s.request()
				q.Name, q.Tolerance = c.name, c.tolerance
				r := s.do(q)
				got := result{r.State, r.Verified, r.Beneficiary.NameMatch, r.Beneficiary.AccountStatus, r.ErrorCode, r.Beneficiary.Suspicious}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
		s.bank.set(func() { s.bank.resolve = answers(bank.Answer{Outcome: bank.NotFound}) })
		if r := s.do(s.address()); r.ErrorCode != schema.VPANotFound || r.State != schema.VerificationFailed {
			t.Errorf("an address: got %+v", r)
		}
	})
}

// The account's tolerance applies if the request has none.
func TestAccountTolerance(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit = answers(foundAnswer("R SHARMA")) })
		match := func(tolerance int) schema.NameMatch {
			q := s.request()
			q.Tolerance = tolerance
			return s.do(q).Beneficiary.NameMatch
		}
		if got := match(-1); got != schema.NamePartial {
			t.Errorf("by the usual tolerance it is %s", got)
		}
		s.exec("UPDATE account SET name_tolerance = 100 WHERE id = $1", s.owner.Account)
		if got := match(-1); got != schema.NameNone {
			t.Errorf("by the account's strict tolerance it is %s", got)
		}
		if got := match(request.Standard); got != schema.NamePartial {
			t.Errorf("by that of the request it is %s", got)
		}
	})
}

// A missing bank is looked up by code or handle, a missing branch in the directory.
func TestMissingBankAndBranchAreLookedUp(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		bare := foundAnswer("RAHUL SHARMA")
		bare.Account.Bank, bare.Account.Branch = "", ""
		s.bank.set(func() { s.bank.deposit, s.bank.resolve = answers(bare), answers(bare) })
		if got := s.do(s.request()).Beneficiary; got.Bank != "State Bank of India" || got.Branch != "" {
			t.Errorf("got %q, %q", got.Bank, got.Branch)
		}
		s.exec("INSERT INTO ifsc_branch (ifsc, bank, branch, address, city, district, state) VALUES ($1, 'SBI', 'Parliament Street', '', '', '', '')", aBranch)
		if got := s.do(s.request()).Beneficiary; got.Bank != "State Bank of India" || got.Branch != "Parliament Street" {
			t.Errorf("got %q, %q", got.Bank, got.Branch)
		}
		if got := s.do(s.address()).Beneficiary; got.Bank != "Axis Bank" || got.Branch != "" {
			t.Errorf("an address: got %q, %q", got.Bank, got.Branch)
		}
	})
}

// A ref_id identifies one request, in one world of one account.
func TestRefIDIsIdempotent(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		r := s.do(s.request())
		s.bank.calls()
		q := s.request()
		q.RefID = r.RefID
		if got, replayed, err := s.Do(t.Context(), q, time.Minute, false); got.ID != r.ID || !replayed || err != nil {
			t.Errorf("got %+v, %v, %v", got, replayed, err)
		}
		for what, change := range map[string]func(*request.Request){
			"number": func(q *request.Request) { q.Account = "1" + anAccount[1:] }, "branch": func(q *request.Request) { q.IFSC = "HDFC0000001" },
			"name": func(q *request.Request) { q.Name = "Rahul" }, "no name": func(q *request.Request) { q.Name = "" }, "tolerance": func(q *request.Request) { q.Tolerance = request.Standard },
			"method": func(q *request.Request) {
				q.Method, q.Private = schema.VerifyUPI, request.Private{VPA: anAddress, Name: aName}
			},
			"batch": func(q *request.Request) { q.Item = &transaction.BatchItem{Batch: "bat_1", Index: 0} },
		} {
			other := q
			change(&other)
			_, _, err := s.Do(t.Context(), other, time.Minute, false)
			if p := accesstest.WantProblem(t, err, schema.DuplicateRefID, "ref_id"); !strings.Contains(p.Message, r.ID) {
				t.Errorf("another %s: %q does not name it", what, p.Message)
			}
		}
		if got := s.bank.calls(); len(got) != 0 {
			t.Errorf("the bank received %q", got)
		}
		stranger := q
		stranger.Owner = s.addTenant("other").In(schema.Live)
		if got, replayed, err := s.Do(t.Context(), stranger, time.Minute, false); got.ID == r.ID || replayed || err != nil {
			t.Errorf("another account: got %+v, %v, %v", got, replayed, err)
		}
		if _, err := s.Find(t.Context(), stranger.Owner, r.ID); err == nil {
			t.Error("another account finds it")
		}
		q.Owner.World = schema.Sandbox
		_, _, err := s.Do(t.Context(), q, 0, false)
		accesstest.WantProblem(t, err, schema.ServiceUnavailable, fieldMethod) // separate from the live world; no connection serves this one
	})
}

func TestConcurrentRefIDMakesOneDeposit(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		const callers = 100
		q := s.request()
		var all sync.WaitGroup
		var mu sync.Mutex
		ids, made := map[string]bool{}, 0
		for range callers {
			all.Go(func() {
				rec, replayed, err := s.Do(context.Background(), q, 0, false)
				mu.Lock()
				defer mu.Unlock()
				ids[rec.ID] = true
				if !replayed {
					made++
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s.Queue.Wait()
		s.advance(0) // the first request may have found all slots taken by others
		switch calls := s.bank.calls(); {
		case len(ids) != 1:
			t.Errorf("len(ids) = %v, want 1", len(ids))
		case made != 1:
			t.Errorf("made = %v, want 1", made)
		case len(calls) != 1:
			t.Errorf("len(calls) = %v, want 1", len(calls))
		case len(s.events()) != 1 || len(s.audited()) != 2:
			t.Errorf("%d verifications, %d made, calls %v, events %v, audited %v", len(ids), made, calls, s.events(), s.audited())
		}
		if busy := s.connections[0].Slots().InFlight; busy != 0 {
			t.Errorf("%d slots are taken for ever", busy)
		}
	})
}

// A batch record creates one verification, even if repeated.
func TestBatchRecordIsIdempotent(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.addBatch("bat_1", 3)
		q := s.request()
		q.Item = &transaction.BatchItem{Batch: "bat_1", Index: 0}
		first := s.do(q)
		again, replayed, err := s.Do(t.Context(), q, 0, false)
		switch diff := cmp.Diff(first, again); {
		case diff != "":
			t.Errorf("again: (-want +got):\n%s", diff)
		case !replayed:
			t.Error("again: replayed is false")
		case err != nil:
			t.Errorf("again: %v", err)
		case first.Batch != *q.Item:
			t.Errorf("again: first.Batch = %v, want %v", first.Batch, *q.Item)
		}
		other := q
		other.Item = &transaction.BatchItem{Batch: "bat_1", Index: 1}
		_, _, err = s.Do(t.Context(), other, 0, false)
		accesstest.WantProblem(t, err, schema.DuplicateRefID, "ref_id")
		for _, ref := range []string{"another", ""} { // it was begun
			other = q
			other.RefID = ref
			_, _, err = s.Do(t.Context(), other, 0, false)
			accesstest.WantProblem(t, err, schema.DuplicateRefID, "ref_id")
		}
		if got := s.bank.calls(); len(got) != 1 {
			t.Errorf("the bank received %q", got)
		}
		if got := s.texts("SELECT successful || ' ' || failed FROM batch"); got[0] != "1 0" {
			t.Errorf("the batch has counted %s", got)
		}
		if got := s.events(); len(got) != 0 {
			t.Errorf("of a record is told %q", got)
		}
	})
}

func TestRefusalRecordsNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		q := s.request()
		q.Owner.World = schema.Sandbox
		_, _, err := s.Do(t.Context(), q, time.Minute, false)
		accesstest.WantProblem(t, err, schema.ServiceUnavailable, fieldMethod)
		s.bank.set(func() { s.bank.away = true })
		_, _, err = s.Do(t.Context(), s.request(), time.Minute, false)
		accesstest.WantProblem(t, err, schema.ServiceUnavailable, "")
		s.bank.set(func() { s.bank.away = false })
		ended, end := context.WithCancel(t.Context())
		end()
		if _, _, err := s.Do(ended, s.request(), time.Minute, false); !errors.Is(err, context.Canceled) {
			t.Errorf("after its client has gone: %v", err)
		}
		if n := s.number("SELECT (SELECT count(*) FROM verification) + (SELECT count(*) FROM audit WHERE action LIKE 'verification.%')"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		if busy := s.connections[0].Slots().InFlight; busy != 0 {
			t.Errorf("%d slots are in use", busy)
		}
		if got := s.bank.calls(); len(got) != 0 {
			t.Errorf("calls of the bank: %q, want none", got)
		}
	})
}

// The first available connection with the method is used.
func TestFirstAvailableConnectionIsUsed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		other := (&fakeBank{}).connection()
		other.Name, other.Methods = "addresses", []schema.VerificationMethod{schema.VerifyUPI}
		s.begin(s.DB, other)
		s.bank.set(func() { s.bank.away = true })
		if r := s.do(s.address()); r.Provider != "addresses" {
			t.Errorf("it went to %s", r.Provider)
		}
		_, _, err := s.Do(t.Context(), s.request(), 0, false)
		accesstest.WantProblem(t, err, schema.ServiceUnavailable, "")
		s.bank.set(func() { s.bank.away = false })
		if r := s.do(s.address()); r.Provider != "puppet" {
			t.Errorf("it went to %s", r.Provider)
		}
	})
}

func TestDuplicateConnectionNameIsRefused(t *testing.T) {
	t.Parallel()
	good := (&fakeBank{}).connection()
	for name, change := range map[string]func(*bank.Connection){
		"one name": func(*bank.Connection) {}, "one name in both worlds": func(c *bank.Connection) { c.World = schema.Sandbox },
		"no bank":    func(c *bank.Connection) { c.Name, c.Bank = "b", nil },
		"no timeout": func(c *bank.Connection) { c.Name, c.Timeout = "b", 0 }, "no room": func(c *bank.Connection) { c.Name, c.Concurrency = "b", 0 },
	} {
		c := good
		change(&c)
		if _, err := New(Config{Connections: []bank.Connection{good, c}}); err == nil {
			t.Errorf("%s: it was made", name)
		}
	}
}

// A wait returns the outcome, or the reason of the delay if the bank cannot be called.
func TestWaitEndsWithOutcomeOrDelay(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit = fails(context.DeadlineExceeded) })
		q := s.request()
		r, _, err := s.Do(t.Context(), q, time.Minute, false)
		if err != nil || r.State != schema.VerificationPending || r.DelayCode != schema.BankTimeout {
			t.Errorf("without patience: %+v, %v", r, err)
		}
		got := make(chan Record, 2)
		for range 2 { // a replay with waitFull sees later results
			go func() {
				r, _, err := s.Do(context.Background(), q, time.Hour, true)
				if err != nil {
					t.Error(err)
				}
				got <- r
			}()
		}
		fixture.Eventually(t, "both wait", func() bool { return s.Waiters.Counts()[r.ID] == 2 })
		s.advance(transaction.MinPause)
		for range 2 {
			if late := <-got; late.State != schema.VerificationSuccess || late.ID != r.ID {
				t.Errorf("with patience: %+v", late)
			}
		}
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending, RetryAfter: time.Hour}) })
		if r, _, err := s.Do(t.Context(), s.request(), time.Millisecond, false); err != nil || r.State != schema.VerificationPending || r.DelayCode != "" {
			t.Errorf("a bank that takes its time: %+v, %v", r, err)
		}
		s.CloseWaiters()
		if r, _, err := s.Do(t.Context(), s.request(), time.Hour, true); err != nil || r.State != schema.VerificationPending {
			t.Errorf("while the server stops: %+v, %v", r, err)
		}
		if n := len(s.Waiters.Counts()); n != 0 {
			t.Errorf("%d wait for ever", n)
		}
	})
}

// A wait sees the results of other instances. Store failures meanwhile are counted.
func TestWaitSeesOtherInstances(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending, RetryAfter: time.Hour}) })
		q := s.request()
		r := s.do(q)
		got := make(chan Record, 1)
		go func() {
			r, _, err := s.Service.Do(context.Background(), q, longestWait, true)
			if err != nil {
				t.Error(err)
			}
			got <- r
		}()
		waiting, reg := s.Service, s.reg
		fixture.Eventually(t, "it waits", func() bool { return waiting.Waiters.Counts()[r.ID] == 1 })
		s.exec("ALTER TABLE verification RENAME TO gone")
		fixture.Eventually(t, "the outage is counted", func() bool {
			return fixture.MetricValue(t, reg, "vayu_verify_store_failures_total", "doing", "reread") > 0
		})
		s.exec("ALTER TABLE gone RENAME TO verification")
		s.begin(s.DB)
		s.callback(r, bank.Answer{Outcome: bank.NotFound})
		if r := <-got; r.State != schema.VerificationFailed || r.ErrorCode != schema.AccountNotFound {
			t.Errorf("got %+v", r)
		}
	})
}
