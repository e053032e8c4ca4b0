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

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// A process that is killed leaves leases. The next on the same store asks what has
// become of the orders before it sends anything.
func TestAfterAKillItIsAskedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		dead := make(chan struct{})
		s.puppet.set(func() { s.puppet.submit = func(Order) (Answer, error) { <-dead; return Answer{}, errLost } })
		killed := s.Service
		made, _, err := s.Do(t.Context(), s.request(), 0)
		if err != nil {
			t.Fatal(err)
		}
		fixture.Until(t, "it was sent", func() bool { return len(s.puppet.calls()) == 1 })
		s.puppet.set(func() { s.puppet.submit, s.puppet.enquire = nil, says(Answer{Outcome: Unknown}) })
		s.open(s.DB)
		if err := s.calls.FreeLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.turn(0)
		heard := s.puppet.calls()
		if s.DB.Name() == "postgres" { // another instance may be at work until its lease is over
			if len(heard) != 0 {
				t.Errorf("within the lease of another it heard %q", heard)
			}
			s.turn(41 * time.Second)
			heard = s.puppet.calls()
		}
		if diff := cmp.Diff([]string{"enquire Airtel"}, heard); diff != "" {
			t.Error(diff)
		}
		s.turn(time.Minute)
		if diff := cmp.Diff([]string{"enquire Airtel", "submit Airtel"}, s.puppet.calls()); diff != "" {
			t.Error(diff)
		}
		if got := s.see(made.ID); got.State != schema.RechargeSuccess {
			t.Errorf("it is %s", got.State)
		}
		close(dead) // the other was not dead after all
		killed.calls.Wait()
		s.balance(900_00, 0)
	})
}

// Nobody knows when the call of somebody who is gone has begun: an order may be on
// its way from the latest moment in which it can have.
func TestWhatMayHaveBeenSentLateIsNotSentAgainEarly(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		dead := make(chan struct{})
		s.puppet.set(func() { s.puppet.submit = func(Order) (Answer, error) { <-dead; return Answer{}, errLost } })
		gone := s.Service
		if _, _, err := s.Do(t.Context(), s.request(), 0); err != nil {
			t.Fatal(err)
		}
		fixture.Until(t, "it was sent", func() bool { return len(s.puppet.calls()) == 1 })
		s.open(s.DB)
		s.puppet.set(func() { s.puppet.submit, s.puppet.enquire = nil, says(Answer{Outcome: Unknown}) })
		for _, c := range []struct {
			after time.Duration // the one before
			want  []string
		}{
			{time.Minute, []string{"enquire Airtel"}}, // so long after it was claimed it may be sent again at the earliest
			{upstream.Margin - 2*time.Second, []string{"enquire Airtel"}},
			{2 * time.Second, []string{"enquire Airtel", "submit Airtel"}},
		} {
			s.turn(c.after)
			if diff := cmp.Diff(c.want, s.puppet.calls()); diff != "" {
				t.Errorf("at %s: %s", s.clock.Now().Sub(noon), diff)
			}
		}
		close(dead)
		gone.calls.Wait()
	})
}

// A lease of this process stands.
func TestOnlyForeignLeasesAreFreed(t *testing.T) {
	t.Parallel()
	s := newStage(t, sqlstoretest.SQLite(t))
	held := make(chan struct{})
	s.puppet.set(func() {
		s.puppet.submit = func(Order) (Answer, error) { <-held; return Answer{Outcome: Succeeded}, nil }
	})
	made, _, err := s.Do(t.Context(), s.request(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.calls.FreeLeases(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.dueIn(made.ID); got != 40*time.Second {
		t.Errorf("it is due in %s", got)
	}
	close(held)
	s.calls.Wait()
}

// What is asked for when all slots are taken waits in the store, and costs no
// goroutine. Records of batches leave half of the slots to others.
func TestWhatHasNoSlotWaitsInTheStore(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		addBatch(t, s.DB, s.owner, 8)
		held := make(chan struct{})
		var mu sync.Mutex
		var sent []string
		s.puppet.set(func() {
			s.puppet.submit = func(o Order) (Answer, error) {
				mu.Lock()
				sent = append(sent, o.Number)
				mu.Unlock()
				<-held
				return Answer{Outcome: Succeeded}, nil
			}
		})
		do := func(q Request) {
			t.Helper()
			if _, _, err := s.Do(t.Context(), q, 0); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 4 {
			q := s.request()
			q.Item, q.Amount, q.Number = &Place{"rbt_1", i}, 10_00, fmt.Sprint("981001000", i)
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
		s.calls.Look(t.Context(), s.lines[0].Line)
		if got := waiting(); got != 4 {
			t.Errorf("%d wait after a look without a free slot", got)
		}
		close(held)
		s.calls.Wait()
		s.turn(time.Second)
		s.turn(0)
		if got := waiting(); got != 0 {
			t.Errorf("%d wait in the end", got)
		}
		if got := s.lines[0].Slots(); got != (upstream.Slots{}) {
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

// addBatch stores a batch of so many records.
func addBatch(t testing.TB, db *sqlstore.DB, o schema.Owner, total int) {
	t.Helper()
	run(t, db, `INSERT INTO batch (id, account_id, mode, kind, fingerprint, state, total, successful, failed, key_id, request_id, client, created_at)
		VALUES ('rbt_1', $1, 'live', 'recharge', $2, 'processing', $3, 0, 0, '', '', '', 1)`, o.Account, []byte{1}, total)
}

// run changes the store.
func run(t testing.TB, db *sqlstore.DB, query string, args ...any) {
	t.Helper()
	if err := change(db, query, args...); err != nil {
		t.Fatal(err)
	}
}

// change is run for a goroutine that is not the test's own.
func change(db *sqlstore.DB, query string, args ...any) error {
	return db.Update(context.Background(), func(tx *sqlstore.Tx) error { _, err := tx.Exec(query, args...); return err })
}

// An item of a batch makes one recharge, however often it comes.
func TestAnItemOfABatchMakesOneRecharge(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		addBatch(t, s.DB, s.owner, 3)
		q := s.request()
		q.Item = &Place{"rbt_1", 0}
		first := s.do(q)
		again, replayed, err := s.Do(t.Context(), q, 0)
		if diff := cmp.Diff(first, again); diff != "" || !replayed || err != nil || first.Batch != *q.Item {
			t.Errorf("again: %v, %v, %s", replayed, err, diff)
		}
		other := q
		other.Item = &Place{"rbt_1", 1}
		_, _, err = s.Do(t.Context(), other, 0)
		refusedAs(t, err, schema.DuplicateRefID, "ref_id")
		other = s.request()
		other.Item = &Place{"rbt_1", 0} // it was begun with another ref_id
		_, _, err = s.Do(t.Context(), other, 0)
		refusedAs(t, err, schema.DuplicateRefID, "ref_id")
		poor := s.request()
		poor.Item, poor.Amount = &Place{"rbt_1", 2}, 2000_00
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

func TestAProviderThatIsAwayIsNotAsked(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		r := s.reach(schema.RechargePending)
		s.puppet.set(func() { s.puppet.away = true })
		s.puppet.calls()
		s.clock.Pass(time.Hour)
		if pause := s.calls.Look(t.Context(), s.lines[0].Line); pause != upstream.AwayPause || len(s.puppet.calls()) != 0 {
			t.Errorf("it is looked at again in %s, and heard %q", pause, s.puppet.calls())
		}
		s.puppet.set(func() { s.puppet.away = false })
		s.turn(0)
		if got := s.see(r.ID); got.State != schema.RechargeSuccess {
			t.Errorf("it is %s", got.State)
		}
	})
}

// An order is not sent under a lease that may end before the call does.
func TestALeaseThatIsNearlyOverSendsNothing(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		r := s.reach(schema.RechargePending)
		s.puppet.calls()
		if !s.lines[0].Take(false) {
			t.Fatal("there is no slot")
		}
		s.carry(job{line: s.lines[0], rec: r, call: submit, lease: upstream.Lease{Token: "t", Until: s.clock.Now().Add(10 * time.Second)}})
		if got := s.puppet.calls(); len(got) != 0 || s.figure("vayu_recharge_overdue_total") != 1 {
			t.Errorf("it heard %q, and %v are counted", got, s.figure("vayu_recharge_overdue_total"))
		}
	})
}

// Two instances on one store make each call once.
func TestTwoInstancesClaimEachOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, sqlstoretest.Postgres(t))
	s.puppet.set(func() { s.puppet.submit = says(Answer{Outcome: Pending}) })
	const n = 20
	for range n {
		q := s.request()
		q.Amount = 10_00
		s.do(q)
	}
	s.puppet.calls()
	one := s.Service
	s.open(s.DB)
	s.clock.Pass(time.Hour)
	for range n {
		var both sync.WaitGroup
		for _, each := range []*Service{one, s.Service} {
			both.Go(func() { each.calls.Look(t.Context(), each.lines[0].Line); each.calls.Wait() })
		}
		both.Wait()
	}
	if got := len(s.puppet.calls()); got != n {
		t.Errorf("%d calls were made, want %d", got, n)
	}
	s.balance(800_00, 0)
}

// While it runs, what is pending moves on; any number of it costs no goroutine; and
// at its end it waits for what is under way.
func TestItRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t, sqlstoretest.SQLite(t))
	run(t, s.DB, "UPDATE posting SET amount = amount * 1000")
	run(t, s.DB, "UPDATE payment SET amount = amount * 1000")
	run(t, s.DB, "UPDATE wallet SET available = available * 1000")
	s.puppet.set(func() { s.puppet.submit, s.puppet.enquire = says(Answer{Outcome: Pending, Again: time.Hour}), nil })
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
	told := func(want int, typ string) func() bool {
		return func() bool {
			var n int
			err := s.DB.View(t.Context()).QueryRow("SELECT count(*) FROM event WHERE type = $1", typ).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n == want
		}
	}
	fixture.Until(t, "all are told as pending", told(n, "recharge.pending"))
	fixture.Until(t, "no call is under way", func() bool { return s.lines[0].Slots().Busy == 0 })
	// Other tests have calls under way, some for each of their slots.
	if carry := strings.Count(goroutines(), "(*Service).carry("); carry > n/10 || len(s.waits.Counts()) > 0 {
		t.Errorf("%d goroutines carry what is pending, and %d wait", carry, len(s.waits.Counts()))
	}
	s.clock.Pass(25 * time.Hour)
	if err := s.countPending(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, old := s.figure("vayu_recharge_pending", "world", "live"), s.figure("vayu_recharge_pending_old", "world", "live"); all != n || old != n {
		t.Errorf("%v are counted as pending, %v as old", all, old)
	}
	s.lines[0].Nudge()
	fixture.Until(t, "all are completed", told(n, "recharge.completed"))
	held, asked := make(chan struct{}), make(chan struct{})
	s.puppet.set(func() {
		s.puppet.submit = func(Order) (Answer, error) { close(asked); <-held; return Answer{Outcome: Succeeded}, nil }
	})
	last, _, err := s.Do(t.Context(), s.request(), 0)
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	cancel()
	fixture.Until(t, "it has stopped", s.calls.Stopped)
	after, _, err := s.Do(t.Context(), s.request(), 0)
	if err != nil || after.State != schema.RechargePending || after.Sent {
		t.Errorf("while it stops: %+v, %v", after, err)
	}
	close(held)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := s.see(last.ID); got.State != schema.RechargeSuccess {
		t.Errorf("what was under way is %s", got.State)
	}
}

// goroutines are the stacks of all goroutines.
func goroutines() string {
	buffer := make([]byte, 8<<20)
	return string(buffer[:runtime.Stack(buffer, true)])
}

// An outcome that cannot be recorded is asked for again, and counted.
func TestAnOutcomeThatCannotBeRecordedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	eachStage(t, func(t *testing.T, s *stage) {
		s.puppet.set(func() {
			s.puppet.submit = func(Order) (Answer, error) {
				// Fatal would end the goroutine that has the slot, and who waits for that would do so for ever.
				if err := change(s.DB, "ALTER TABLE posting RENAME TO posting_gone"); err != nil {
					t.Error(err)
				}
				return Answer{Outcome: Succeeded}, nil
			}
		})
		r := s.do(s.request())
		if r.State != schema.RechargePending || s.figure("vayu_recharge_store_failures_total", "doing", "record") != 1 {
			t.Errorf("got %s, and %v failures are counted", r.State, s.figure("vayu_recharge_store_failures_total", "doing", "record"))
		}
		run(t, s.DB, "ALTER TABLE posting_gone RENAME TO posting")
		s.puppet.calls()
		s.turn(41 * time.Second)
		if got := s.see(r.ID); got.State != schema.RechargeSuccess {
			t.Errorf("it is %s", got.State)
		}
		if diff := cmp.Diff([]string{"enquire Airtel"}, s.puppet.calls()); diff != "" {
			t.Error(diff)
		}
		s.balance(900_00, 0)
	})
}

// Loops find what is due along its index, however much is not.
func TestClaimsUseTheirIndices(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		crowded(t, db, 60_000, "CASE WHEN i % 1000 = 1 THEN 'pending' ELSE 'success' END")
		sqlstoretest.Exec(t, db, "UPDATE recharge SET due_at = created_at WHERE state = 'pending'")
		sqlstoretest.Exec(t, db, "UPDATE recharge SET batch_id = 'rbt_1' WHERE state = 'pending' AND created_at > 30000")
		for _, analyzed := range []bool{false, true} {
			switch {
			case analyzed:
				sqlstoretest.Exec(t, db, "ANALYZE")
			case db.Name() == "postgres": // it has statistics within a minute
				continue
			}
			single, batch := table.Queries()
			for query, index := range map[string]string{
				single[0]: "recharge_due ", batch[0]: "recharge_due_batch ", single[1]: "recharge_due ", batch[1]: "recharge_due_batch ",
				selectPending: "recharge_pending", tallyPending: "recharge_pending",
			} {
				args := []any{"live", "courier", 50_000, 10}[:strings.Count(query, "$")]
				if query == tallyPending {
					args = []any{crowdID(30_000)}
				}
				if got := sqlstoretest.Plan(t, db, query, args...) + " "; !strings.Contains(got, index) || strings.Contains(got, "TEMP B-TREE") && query != selectPending {
					t.Errorf("(analyzed: %v) %s does not use %s:\n%s", analyzed, query, index, got)
				}
			}
		}
	})
}
