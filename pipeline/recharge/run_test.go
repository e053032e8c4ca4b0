package recharge

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// A killed process leaves leases. The next process on the store enquires before it sends
// anything.
func TestEnquiryBeforeResendAfterKill(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		dead := make(chan struct{})
		s.fake.set(func() {
			s.fake.submit = func(order.Order) (order.Answer, error) { <-dead; return order.Answer{}, errLost }
		})
		killed := s.Service
		made, _, err := s.Do(t.Context(), s.request(), 0)
		if err != nil {
			t.Fatal(err)
		}
		fixture.Eventually(t, "it was sent", func() bool { return len(s.fake.calls()) == 1 })
		s.fake.set(func() { s.fake.submit, s.fake.enquire = nil, answers(order.Answer{Outcome: order.Unknown}) })
		s.restart(s.DB)
		if err := s.Queue.ExpireForeignLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.advance(0)
		received := s.fake.calls()
		if s.DB.Name() == "postgres" { // another instance may be at work until its lease is over
			if len(received) != 0 {
				t.Errorf("within the lease of another it received %q", received)
			}
			s.advance(41 * time.Second)
			received = s.fake.calls()
		}
		if diff := cmp.Diff([]string{"enquire Airtel"}, received); diff != "" {
			t.Error(diff)
		}
		s.advance(time.Minute)
		if diff := cmp.Diff([]string{"enquire Airtel", "submit Airtel"}, s.fake.calls()); diff != "" {
			t.Error(diff)
		}
		if got := s.find(made.ID); got.State != schema.RechargeSuccess {
			t.Errorf("it is %s", got.State)
		}
		close(dead) // the other was not dead after all
		killed.Queue.Wait()
		s.balance(900_00, 0)
	})
}

// The start of a lost process's call is unknown, so the resend delay counts from its
// latest possible time.
func TestResendDelayCountsFromLatestStart(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		dead := make(chan struct{})
		s.fake.set(func() {
			s.fake.submit = func(order.Order) (order.Answer, error) { <-dead; return order.Answer{}, errLost }
		})
		gone := s.Service
		if _, _, err := s.Do(t.Context(), s.request(), 0); err != nil {
			t.Fatal(err)
		}
		fixture.Eventually(t, "it was sent", func() bool { return len(s.fake.calls()) == 1 })
		s.restart(s.DB)
		s.fake.set(func() { s.fake.submit, s.fake.enquire = nil, answers(order.Answer{Outcome: order.Unknown}) })
		for _, c := range []struct {
			after time.Duration // the one before
			want  []string
		}{
			{time.Minute, []string{"enquire Airtel"}}, // so long after it was claimed it may be sent again at the earliest
			{workqueue.LeaseMargin - 2*time.Second, []string{"enquire Airtel"}},
			{2 * time.Second, []string{"enquire Airtel", "submit Airtel"}},
		} {
			s.advance(c.after)
			if diff := cmp.Diff(c.want, s.fake.calls()); diff != "" {
				t.Errorf("at %s: %s", s.clock.Now().Sub(noon), diff)
			}
		}
		close(dead)
		gone.Queue.Wait()
	})
}

// A lease of the current process is kept.
func TestOnlyForeignLeasesExpire(t *testing.T) {
	t.Parallel()
	s := newServiceFixture(t, sqlstoretest.SQLite(t))
	held := make(chan struct{})
	s.fake.set(func() {
		s.fake.submit = func(order.Order) (order.Answer, error) { <-held; return order.Answer{Outcome: order.Succeeded}, nil }
	})
	made, _, err := s.Do(t.Context(), s.request(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Queue.ExpireForeignLeases(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.dueIn(made.ID); got != 40*time.Second {
		t.Errorf("it is due in %s", got)
	}
	close(held)
	s.Queue.Wait()
}

// A recharge without a slot is queued in the store, without a goroutine. Batch items leave
// half of the slots to others.
func TestRechargeWithoutSlotIsQueued(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		addBatch(t, s.DB, s.owner, 8)
		held := make(chan struct{})
		var mu sync.Mutex
		var sent []string
		s.fake.set(func() {
			s.fake.submit = func(o order.Order) (order.Answer, error) {
				mu.Lock()
				sent = append(sent, o.Number)
				mu.Unlock()
				<-held
				return order.Answer{Outcome: order.Succeeded}, nil
			}
		})
		do := func(q request.Request) {
			t.Helper()
			if _, _, err := s.Do(t.Context(), q, 0); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 4 {
			q := s.request()
			q.Item, q.Amount, q.Number = &transaction.BatchItem{Batch: "rbt_1", Index: i}, 10_00, fmt.Sprint("981001000", i)
			do(q)
		}
		for i := range 4 {
			q := s.request()
			q.Amount, q.Number = 10_00, fmt.Sprint("981002000", i)
			do(q)
		}
		waiting := func() (n int) {
			if err := s.DB.View(t.Context()).QueryRow("SELECT count(*) FROM recharge WHERE sent = 0 AND state = 'pending'").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if got := waiting(); got != 4 {
			t.Errorf("%d wait, want 2 of the batch and 2 single ones", got)
		}
		s.Queue.Poll(t.Context(), s.connections[0].Pool)
		if got := waiting(); got != 4 {
			t.Errorf("%d wait after a look without a free slot", got)
		}
		close(held)
		s.Queue.Wait()
		s.advance(time.Second)
		s.advance(0)
		if got := waiting(); got != 0 {
			t.Errorf("%d wait in the end", got)
		}
		if got := s.connections[0].Slots(); got != (workqueue.Slots{}) {
			t.Errorf("slots: %+v", got)
		}
		if diff := cmp.Diff(strings.Repeat("recharge.completed ", 8), strings.Join(s.events(), " ")+" "); diff != "" {
			t.Error(diff)
		}
		var done string
		if err := s.DB.View(t.Context()).QueryRow("SELECT count(*) || ' ' || max(outcome) FROM batch_item").Scan(&done); err != nil || done != "4 successful" {
			t.Errorf("of the batch %s, %v", done, err)
		}
	})
}

// addBatch stores a batch.
func addBatch(t testing.TB, db *sqlstore.DB, o schema.Owner, total int) {
	t.Helper()
	sqlstoretest.Exec(t, db, `INSERT INTO batch (id, account_id, mode, kind, fingerprint, state, total, successful, failed, key_id, request_id, client, created_at)
		VALUES ('rbt_1', $1, 'live', 'recharge', $2, 'processing', $3, 0, 0, '', '', '', 1)`, o.Account, []byte{1}, total)
}

// tryExecSQL is sqlstoretest.Exec for another goroutine than the test's.
func tryExecSQL(db *sqlstore.DB, query string, args ...any) error {
	return db.Update(context.Background(), func(tx *sqlstore.Tx) error { _, err := tx.Exec(query, args...); return err })
}

// A batch item creates one recharge, even if it is retried.
func TestBatchItemIsIdempotent(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		addBatch(t, s.DB, s.owner, 3)
		q := s.request()
		q.Item = &transaction.BatchItem{Batch: "rbt_1", Index: 0}
		first := s.do(q)
		again, replayed, err := s.Do(t.Context(), q, 0)
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
		other.Item = &transaction.BatchItem{Batch: "rbt_1", Index: 1}
		_, _, err = s.Do(t.Context(), other, 0)
		accesstest.WantProblem(t, err, schema.DuplicateRefID, "ref_id")
		other = s.request()
		other.Item = &transaction.BatchItem{Batch: "rbt_1", Index: 0} // it was begun with another ref_id
		_, _, err = s.Do(t.Context(), other, 0)
		accesstest.WantProblem(t, err, schema.DuplicateRefID, "ref_id")
		poor := s.request()
		poor.Item, poor.Amount = &transaction.BatchItem{Batch: "rbt_1", Index: 2}, 2000_00
		if r := s.do(poor); r.ErrorCode != schema.InsufficientBalance {
			t.Errorf("got %+v", r)
		}
		var counts string
		if err := s.DB.View(t.Context()).QueryRow("SELECT successful || ' ' || failed FROM batch").Scan(&counts); err != nil || counts != "1 1" {
			t.Errorf("the batch has counted %s, %v", counts, err)
		}
		s.balance(900_00, 0)
	})
}

func TestUnavailableProviderIsNotCalled(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.reach(schema.RechargePending)
		s.fake.set(func() { s.fake.away = true })
		s.fake.calls()
		s.clock.Advance(time.Hour)
		if pause := s.Queue.Poll(t.Context(), s.connections[0].Pool); pause != workqueue.RetryPause || len(s.fake.calls()) != 0 {
			t.Errorf("it is looked at again in %s, and received %q", pause, s.fake.calls())
		}
		s.fake.set(func() { s.fake.away = false })
		s.advance(0)
		if got := s.find(r.ID); got.State != schema.RechargeSuccess {
			t.Errorf("it is %s", got.State)
		}
	})
}

// An order is not sent under a lease that may expire during the call.
func TestExpiringLeaseSendsNothing(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		r := s.reach(schema.RechargePending)
		s.fake.calls()
		if !s.connections[0].TryAcquire(false) {
			t.Fatal("there is no slot")
		}
		s.runJob(job{Connection: s.connections[0], rec: r, call: settle.CallSubmit, lease: workqueue.Lease{Token: "t", Until: s.clock.Now().Add(10 * time.Second)}})
		if got := s.fake.calls(); len(got) != 0 || s.metric("vayu_recharge_overdue_total") != 1 {
			t.Errorf("it received %q, and %v are counted", got, s.metric("vayu_recharge_overdue_total"))
		}
	})
}

// Two instances on one store make each call once.
func TestTwoInstancesMakeEachCallOnce(t *testing.T) {
	t.Parallel()
	s := newServiceFixture(t, sqlstoretest.Postgres(t))
	s.fake.set(func() { s.fake.submit = answers(order.Answer{Outcome: order.Pending}) })
	const n = 20
	for range n {
		q := s.request()
		q.Amount = 10_00
		s.do(q)
	}
	s.fake.calls()
	one := s.Service
	s.restart(s.DB)
	s.clock.Advance(time.Hour)
	for range n {
		var both sync.WaitGroup
		for _, each := range []*Service{one, s.Service} {
			both.Go(func() { each.Queue.Poll(t.Context(), each.connections[0].Pool); each.Queue.Wait() })
		}
		both.Wait()
	}
	if got := len(s.fake.calls()); got != n {
		t.Errorf("%d calls were made, want %d", got, n)
	}
	s.balance(800_00, 0)
}

// Run advances pending recharges without a goroutine for each. At the end it waits for the
// calls in flight.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newServiceFixture(t, sqlstoretest.SQLite(t))
	sqlstoretest.Exec(t, s.DB, "UPDATE posting SET amount = amount * 1000")
	sqlstoretest.Exec(t, s.DB, "UPDATE payment SET amount = amount * 1000")
	sqlstoretest.Exec(t, s.DB, "UPDATE wallet SET available = available * 1000")
	s.fake.set(func() {
		s.fake.submit, s.fake.enquire = answers(order.Answer{Outcome: order.Pending, RetryAfter: time.Hour}), nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	const n = 1000
	pending := make([]string, n)
	for i := range pending {
		rec, _, err := s.Do(t.Context(), s.request(), 0)
		if err != nil {
			t.Fatal(err)
		}
		pending[i] = rec.ID
	}
	hasEvents := func(want int, typ string) func() bool {
		return func() bool {
			var n int
			err := s.DB.View(t.Context()).QueryRow("SELECT count(*) FROM event WHERE type = $1", typ).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n == want
		}
	}
	fixture.Eventually(t, "all have their pending event", hasEvents(n, "recharge.pending"))
	fixture.Eventually(t, "no call is under way", func() bool { return s.connections[0].Slots().InFlight == 0 })
	// Other tests also have calls in flight, some in each of their slots.
	if jobs := strings.Count(goroutines(), "(*Service).runJob("); jobs > n/10 || len(s.Waiters.Counts()) > 0 {
		t.Errorf("%d goroutines call for what is pending, and %d wait", jobs, len(s.Waiters.Counts()))
	}
	s.clock.Advance(25 * time.Hour)
	s.CountPending(t.Context())
	if all, old := s.metric("vayu_recharge_pending", "world", "live"), s.metric("vayu_recharge_pending_old", "world", "live"); all != n || old != n {
		t.Errorf("%v are counted as pending, %v as old", all, old)
	}
	s.connections[0].Wake()
	fixture.Eventually(t, "all are completed", hasEvents(n, "recharge.completed"))
	held, called := make(chan struct{}), make(chan struct{})
	s.fake.set(func() {
		s.fake.submit = func(order.Order) (order.Answer, error) {
			close(called)
			<-held
			return order.Answer{Outcome: order.Succeeded}, nil
		}
	})
	last, _, err := s.Do(t.Context(), s.request(), 0)
	if err != nil {
		t.Fatal(err)
	}
	<-called
	cancel()
	fixture.Eventually(t, "it has stopped", s.Queue.Stopped)
	after, _, err := s.Do(t.Context(), s.request(), 0)
	if err != nil || after.State != schema.RechargePending || after.Sent {
		t.Errorf("while it stops: %+v, %v", after, err)
	}
	close(held)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := s.find(last.ID); got.State != schema.RechargeSuccess {
		t.Errorf("what was under way is %s", got.State)
	}
}

// goroutines returns the stacks of all goroutines.
func goroutines() string {
	buffer := make([]byte, 8<<20)
	return string(buffer[:runtime.Stack(buffer, true)])
}

// If a result cannot be recorded, the failure is counted and an enquiry follows.
func TestUnrecordedResultIsFollowedByEnquiry(t *testing.T) {
	t.Parallel()
	eachServiceFixture(t, func(t *testing.T, s *serviceFixture) {
		s.fake.set(func() {
			s.fake.submit = func(order.Order) (order.Answer, error) {
				// Fatal would end the goroutine that has the slot, and its waiter would wait for ever.
				if err := tryExecSQL(s.DB, "ALTER TABLE posting RENAME TO posting_gone"); err != nil {
					t.Error(err)
				}
				return order.Answer{Outcome: order.Succeeded}, nil
			}
		})
		r := s.do(s.request())
		if r.State != schema.RechargePending || s.metric("vayu_recharge_store_failures_total", "doing", "record") != 1 {
			t.Errorf("got %s, and %v failures are counted", r.State, s.metric("vayu_recharge_store_failures_total", "doing", "record"))
		}
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE posting_gone RENAME TO posting")
		s.fake.calls()
		s.advance(41 * time.Second)
		if got := s.find(r.ID); got.State != schema.RechargeSuccess {
			t.Errorf("it is %s", got.State)
		}
		if diff := cmp.Diff([]string{"enquire Airtel"}, s.fake.calls()); diff != "" {
			t.Error(diff)
		}
		s.balance(900_00, 0)
	})
}

// Polling uses the index of due rows.
func TestClaimsUseIndices(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		insertMany(t, db, 60_000, "CASE WHEN i % 1000 = 1 THEN 'pending' ELSE 'success' END")
		sqlstoretest.Exec(t, db, "UPDATE recharge SET due_at = created_at WHERE state = 'pending'")
		sqlstoretest.Exec(t, db, "UPDATE recharge SET batch_id = 'rbt_1' WHERE state = 'pending' AND created_at > 30000")
		for _, analyzed := range []bool{false, true} {
			switch {
			case analyzed:
				sqlstoretest.Exec(t, db, "ANALYZE")
			case db.Name() == "postgres": // it has statistics within a minute
				continue
			}
			single, batch := workqueue.Table[record.Record]{Name: record.Table.Name, Columns: record.Columns}.Queries()
			countPending, pendingByProvider := record.Table.Queries()
			for query, index := range map[string]string{
				single[0]: "recharge_due ", batch[0]: "recharge_due_batch ", single[1]: "recharge_due ", batch[1]: "recharge_due_batch ",
				pendingByProvider: "recharge_pending", countPending: "recharge_pending",
			} {
				args := []any{"live", "pending", 50_000, 10}[:strings.Count(query, "$")]
				if query == countPending {
					args = []any{crowdID(30_000)}
				}
				if got := sqlstoretest.Plan(t, db, query, args...) + " "; !strings.Contains(got, index) || strings.Contains(got, "TEMP B-TREE") && query != pendingByProvider {
					t.Errorf("(analyzed: %v) %s does not use %s:\n%s", analyzed, query, index, got)
				}
			}
		}
	})
}
