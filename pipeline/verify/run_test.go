package verify

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/internal/workqueue"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// holdDeposit makes the bank accept a deposit and answer only after release.
func (s *serviceFixture) holdDeposit() (release func()) {
	dead := make(chan struct{})
	s.bank.set(func() {
		s.bank.deposit = func(bank.Order) (bank.Answer, error) { <-dead; return foundAnswer("RAHUL SHARMA"), nil }
	})
	return sync.OnceFunc(func() { close(dead) })
}

// inFlight creates a verification whose call is in flight.
func (s *serviceFixture) inFlight(q request.Request) Record {
	s.t.Helper()
	s.bank.calls()
	r, _, err := s.Do(context.Background(), q, 0, true)
	if err != nil {
		s.t.Fatal(err)
	}
	fixture.Eventually(s.t, "the bank was asked", func() bool { return len(s.bank.calls()) == 1 })
	return r
}

// A killed process leaves leases. The next process enquires about their deposits before it
// sends any.
func TestKilledCallIsEnquired(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		release := s.holdDeposit()
		defer release()
		killed := s.Service
		r := s.inFlight(s.request())
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = nil, answers(bank.Answer{Outcome: bank.Unknown}) })
		s.begin(s.DB)
		if err := s.Queue.ExpireForeignLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.advance(0)
		if s.DB.Name() == "postgres" { // the lease of another instance must expire first
			s.wantCalls("within the lease of another")
			s.advance(41 * time.Second)
		}
		s.wantCalls("at first", "enquire")
		s.advance(time.Minute + workqueue.LeaseMargin)
		s.wantCalls("when what is slow on its way must have come", "enquire", "deposit")
		release() // the other process was alive
		killed.Queue.Wait()
		s.wantFinal(r.ID, schema.VerificationSuccess, completed)
	})
}

// The start of a killed process's call is unknown. The resend delay counts from the latest
// possible start.
func TestResendCountsFromLatestPossibleSend(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		release := s.holdDeposit()
		gone := s.Service
		s.inFlight(s.request())
		s.begin(s.DB)
		s.bank.set(func() { s.bank.deposit, s.bank.enquire = nil, answers(bank.Answer{Outcome: bank.Unknown}) })
		s.advance(time.Minute)
		s.wantCalls("a minute after it was claimed", "enquire")
		s.advance(workqueue.LeaseMargin - 2*time.Second)
		s.wantCalls("two seconds too early", "enquire")
		s.advance(2 * time.Second)
		s.wantCalls("then", "enquire", "deposit")
		release()
		gone.Queue.Wait()
	})
}

// Two instances on one store make each call once. Without the lease an instance records only
// final outcomes.
func TestTwoInstancesCallOnce(t *testing.T) {
	t.Parallel()
	s := newServiceFixture(t, sqlstoretest.Postgres(t))
	s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending}) })
	const n = 20
	for range n {
		s.do(s.request())
	}
	s.bank.calls()
	one := s.Service
	s.begin(s.DB)
	s.clock.Advance(time.Hour)
	for range n {
		var both sync.WaitGroup
		for _, each := range []*Service{one, s.Service} {
			both.Go(func() { each.Queue.Poll(t.Context(), each.connections[0].Pool); each.Queue.Wait() })
		}
		both.Wait()
	}
	if got := len(s.bank.calls()); got != n || len(s.events()) != n {
		t.Errorf("%d calls were made and %d events stored, want %d", got, len(s.events()), n)
	}
}

// An instance without the lease records only final outcomes.
func TestLostLeaseIsFenced(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]func() (bank.Answer, error){
		"lost": func() (bank.Answer, error) { return bank.Answer{}, errLost }, "not sent": func() (bank.Answer, error) { return bank.Answer{}, errUnsent },
		"not made": func() (bank.Answer, error) { return bank.Answer{Outcome: bank.NotMade}, nil }, "not asked": func() (bank.Answer, error) { return bank.Answer{}, errBreaker },
		"pending": func() (bank.Answer, error) { return bank.Answer{Outcome: bank.Pending, RetryAfter: time.Second}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *serviceFixture) {
				held := make(chan struct{})
				s.bank.set(func() { s.bank.deposit = func(bank.Order) (bank.Answer, error) { <-held; return late() } })
				slow := s.Service
				r := s.inFlight(s.request())
				s.begin(s.DB)
				s.bank.set(func() {
					s.bank.deposit, s.bank.enquire = nil, answers(bank.Answer{Outcome: bank.Pending, RetryAfter: time.Hour})
				})
				s.advance(41 * time.Second)
				s.wantDue("asked about by another", r.ID, time.Hour)
				close(held)
				slow.Queue.Wait()
				s.wantDue("when the first has ended", r.ID, time.Hour)
				if got := s.record(r.ID); !got.Sent || got.Tries != 1 || got.DelayCode != "" {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// While Run is active, pending verifications proceed without a goroutine for each. At its end
// Run waits for calls in flight.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newServiceFixture(t, sqlstoretest.SQLite(t))
	s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending, RetryAfter: time.Hour}) })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	const n = 500
	for range n {
		if _, _, err := s.Do(t.Context(), s.request(), 0, true); err != nil {
			t.Fatal(err)
		}
	}
	stored := func(want int) func() bool { return func() bool { return len(s.events()) == want } }
	fixture.Eventually(t, "all are asked for", func() bool {
		return s.number("SELECT count(*) FROM verification WHERE tries = 1") == n && s.connections[0].Slots().InFlight == 0
	})
	buffer := make([]byte, 8<<20)
	if got := strings.Count(string(buffer[:runtime.Stack(buffer, true)]), "(*Service).runJob(0x"); got > 0 && len(s.Waiters.Counts()) > 0 {
		t.Errorf("%d goroutines carry what is pending", got)
	}
	s.CountPending(t.Context())
	if live, sandbox := s.metric("vayu_verify_pending", "world", "live"), s.metric("vayu_verify_pending", "world", "sandbox"); live != n || sandbox != 0 {
		t.Errorf("%v and %v are counted as pending", live, sandbox)
	}
	s.clock.Advance(2 * time.Hour)
	s.connections[0].Wake()
	fixture.Eventually(t, "all are completed", stored(n))
	release := s.holdDeposit()
	last := s.inFlight(s.request())
	cancel()
	fixture.Eventually(t, "it has stopped", s.Queue.Stopped)
	after, _, err := s.Do(t.Context(), s.request(), 0, true)
	if err != nil || after.State != schema.VerificationPending || after.Sent {
		t.Errorf("while it stops: %+v, %v", after, err)
	}
	release()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := s.record(last.ID); got.State != schema.VerificationSuccess {
		t.Errorf("what was under way is %s", got.State)
	}
}

// A request without a slot is queued in the store. Batch records leave half of the slots free.
func TestRequestWithoutSlotIsQueued(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.addBatch("bat_1", 4)
		release := s.holdDeposit()
		ask := func(q request.Request) {
			t.Helper()
			if _, _, err := s.Do(t.Context(), q, 0, true); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 4 {
			q := s.request()
			q.Item = &transaction.BatchItem{Batch: "bat_1", Index: i}
			ask(q)
		}
		for range 4 {
			ask(s.request())
		}
		const waiting = "SELECT count(*) FROM verification WHERE sent = 0 AND state = 'pending'"
		if got := s.number(waiting); got != 4 {
			t.Errorf("%d wait, want 2 of the batch and 2 single ones", got)
		}
		release()
		s.Queue.Wait()
		s.advance(time.Second)
		s.advance(0)
		if got := s.number(waiting); got != 0 || s.connections[0].Slots() != (workqueue.Slots{}) {
			t.Errorf("%d wait in the end, slots %+v", got, s.connections[0].Slots())
		}
		if got := s.texts("SELECT state || ' ' || successful FROM batch"); got[0] != "completed 4" || len(s.events()) != 5 {
			t.Errorf("the batch is %s, events %q", got, s.events())
		}
		if got := len(s.bank.calls()); got != 8 {
			t.Errorf("the bank was asked %d times", got)
		}
	})
}

// Pending verifications of an unconfigured bank are logged.
func TestUnconfiguredBankIsLogged(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending}) })
		s.do(s.request())
		s.checkUnconfigured(t.Context())
		if s.log.Count("not configured") != 0 {
			t.Error(s.log)
		}
		s.exec("UPDATE verification SET provider = 'gone'")
		s.checkUnconfigured(t.Context())
		if s.log.Count("not configured") != 1 || !strings.Contains(s.log.String(), "provider=gone") {
			t.Error(s.log)
		}
	})
}

// Store failures are counted by operation.
func TestStoreFailuresAreCounted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.exec("ALTER TABLE verification RENAME TO gone")
		s.checkUnconfigured(t.Context())
		s.deleteOld(t.Context())
		s.Queue.Poll(t.Context(), s.connections[0].Pool)
		for _, doing := range []string{"count", "delete", "claim"} {
			if got := s.metric("vayu_verify_store_failures_total", "doing", doing); got != 1 {
				t.Errorf("%v failures to %s are counted", got, doing)
			}
		}
	})
}

// Queries of the loops, the cache and the retention use indices.
func TestQueriesUseTheirIndices(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.insertMany(60_000)
		for _, analyzed := range []bool{false, true} {
			switch {
			case analyzed:
				s.exec("ANALYZE")
			case s.DB.Name() == "postgres": // it has statistics within a minute
				continue
			}
			single, batch := workqueue.Table[Record]{Name: verifications.Name, Columns: columns}.Queries()
			countPending, pendingByProvider := verifications.Queries()
			for _, c := range []struct {
				name, query, index string
				args               []any
			}{
				{"due", single[0], "verification_due ", []any{"live", "puppet", 50_000, 10}},
				{"next due", single[1], "verification_due ", []any{"live", "puppet", 50_000}},
				{"due of batches", batch[0], "verification_due_batch ", []any{"live", "puppet", 50_000, 10}},
				{"next due of batches", batch[1], "verification_due_batch ", []any{"live", "puppet", 50_000}},
				{"cached", selectCached, "verification_same ", []any{"acc_1", "live", []byte("1000"), 1}},
				{"purge", deleteSingle, "verification_finished ", []any{int64(300), 500}},
				{"purge of batches", deleteBatched, "verification_finished_batch ", []any{int64(300), 500}},
				{"pending by provider", pendingByProvider, "verification_pending", nil},
				{"number of pending", countPending, "verification_pending", []any{"ver_1"}},
				{"by reference", selectByRef, "", []any{"acc_1", "live", "17"}}, // of its own
			} {
				t.Run(fmt.Sprintf("%s, analyzed: %v", c.name, analyzed), func(t *testing.T) {
					got := sqlstoretest.Plan(t, s.DB, c.query, c.args...) + " "
					sorts := strings.Contains(got, "TEMP B-TREE") && c.query != pendingByProvider
					whole := strings.Contains(got, "Seq Scan on verification") || strings.Contains(got, "SCAN verification") && !strings.Contains(got, "SCAN verification USING")
					if !strings.Contains(got, c.index) || whole || sorts {
						t.Errorf("%s: want the index %q; reads all: %v, sorts: %v:\n%s", c.query, c.index, whole, sorts, got)
					}
				})
			}
		}
	})
}

// insertMany stores verifications of three accounts in turn. One in a thousand is pending.
func (s *serviceFixture) insertMany(n int) {
	s.t.Helper()
	for i := range 3 {
		sqlstoretest.Exec(s.t, s.DB, "INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'unlimited', '', 1, 1)", fmt.Sprintf("acc_%d", i))
	}
	sqlstoretest.Exec(s.t, s.DB, `INSERT INTO verification (id, account_id, mode, ref_id, digest, same, state, method, target, ifsc, named, threshold, provider, provider_ref,
			sent, tries, due_at, token, trouble, account_status, name_match, score, verified, beneficiary, bank, branch, reasons, utr, error_code, answered_by,
			key_id, batch_id, batch_index, created_at, finished_at)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT 'ver_0000000000000000' || CAST(1000000000 + i AS TEXT), 'acc_' || CAST(i % 3 AS TEXT), 'live', CAST(i AS TEXT),
			CAST(CAST(i AS TEXT) AS BYTEA), CAST(CAST(i / 6 AS TEXT) AS BYTEA), CASE WHEN i % 1000 = 1 THEN 'pending' ELSE 'success' END,
			'upi', '', '', 0, 70, 'puppet', '', 1, 0, CASE WHEN i % 1000 = 1 THEN i END, '', '', '', 'none', 0, 0, '', '', '', '', '', '', '', '',
			CASE WHEN i % 2000 = 1 THEN 'bat_1' ELSE '' END, 0, i, CASE WHEN i % 1000 = 1 THEN NULL ELSE i END FROM n`, n)
}
