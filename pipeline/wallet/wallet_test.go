package wallet

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// act runs one ledger operation by its name.
func act(tx *sqlstore.Tx, o schema.Owner, name, subject string, amount schema.Paise) error {
	return actAt(tx, noon, o, name, subject, amount)
}

func actAt(tx *sqlstore.Tx, now time.Time, o schema.Owner, name, subject string, amount schema.Paise) error {
	switch name {
	case kindReserve:
		ok, err := Reserve(tx, now, o, subject, amount)
		if err == nil && !ok {
			return fmt.Errorf("there is not %s", amount)
		}
		return err
	case kindCommit:
		return Commit(tx, now, o, subject, "Airtel", amount)
	case kindRelease:
		return Release(tx, now, o, subject, amount)
	case kindRefund:
		return Refund(tx, now, o, subject, "Airtel", amount)
	default:
		return Suspend(tx, now, o, subject, "Airtel", amount)
	}
}

// ledgers returns the sum of each ledger of an owner.
func ledgers(t *testing.T, db *sqlstore.DB, o schema.Owner) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	err := sqlstore.Each(db.View(t.Context()), func(row sqlstore.Scanner) error {
		var ledger string
		var sum int64
		err := row.Scan(&ledger, &sum)
		sums[ledger] = sum
		return err
	}, "SELECT ledger, CAST(sum(amount) AS BIGINT) FROM posting WHERE account_id = $1 AND mode = $2 GROUP BY ledger", o.Account, o.World.String())
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func TestOperationsMoveAmounts(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		acts  []string
		want  Balance
		books map[string]int64
	}{
		{"nothing", nil, Balance{1000, 0}, map[string]int64{cash: -1000, available: 1000}},
		{"reserved", []string{kindReserve}, Balance{600, 400}, map[string]int64{cash: -1000, available: 600, held: 400}},
		{
			"charged",
			[]string{kindReserve, kindCommit},
			Balance{600, 0},
			map[string]int64{cash: -1000, available: 600, held: 0, "clearing:Airtel": 400},
		},
		{
			"released",
			[]string{kindReserve, kindRelease},
			Balance{1000, 0},
			map[string]int64{cash: -1000, available: 1000, held: 0},
		},
		{
			"refunded",
			[]string{kindReserve, kindCommit, kindRefund},
			Balance{1000, 0},
			map[string]int64{cash: -1000, available: 1000, held: 0, "clearing:Airtel": 0},
		},
		{
			"suspended",
			[]string{kindReserve, kindRelease, kindSuspend},
			Balance{1000, 0},
			map[string]int64{cash: -1000, available: 1000, held: 0, "clearing:Airtel": 400, suspense: -400},
		},
	}
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				o := addAccount(t, db, c.name)
				fund(t, db, o, "pay_"+o.Account, 1000)
				for _, name := range c.acts {
					sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return act(tx, o, name, "txn_"+o.Account, 400) })
				}
				wantBalance(t, db, c.name, o, c.want)
				if diff := cmp.Diff(c.books, ledgers(t, db, o)); diff != "" {
					t.Error(diff)
				}
			})
		}
	})
}

// Each operation of a subject succeeds once, and only after the required ones, whatever else
// is tried or reserved.
func TestInvalidSequencesAreRefused(t *testing.T) {
	t.Parallel()
	cases := []struct {
		before []string
		refuse []string
	}{
		{nil, []string{kindCommit, kindRelease, kindRefund, kindSuspend}},
		{[]string{kindReserve}, []string{kindReserve, kindRefund, kindSuspend}},
		{[]string{kindReserve, kindCommit}, []string{kindReserve, kindCommit, kindRelease, kindSuspend}},
		{[]string{kindReserve, kindRelease}, []string{kindReserve, kindCommit, kindRelease, kindRefund}},
		{[]string{kindReserve, kindCommit, kindRefund}, []string{kindReserve, kindCommit, kindRelease, kindRefund, kindSuspend}},
		{[]string{kindReserve, kindRelease, kindSuspend}, []string{kindReserve, kindCommit, kindRelease, kindRefund, kindSuspend}},
	}
	eachFunded(t, 10_000, func(t *testing.T, db *sqlstore.DB, o schema.Owner) {
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return act(tx, o, kindReserve, "txn_other", 5000) })
		for i, c := range cases {
			t.Run(fmt.Sprint("after ", c.before), func(t *testing.T) {
				subject := fmt.Sprint("txn_", i)
				for _, name := range c.before {
					sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return act(tx, o, name, subject, 400) })
				}
				was := ledgers(t, db, o)
				for _, name := range c.refuse {
					if err := db.Update(t.Context(), func(tx *sqlstore.Tx) error { return act(tx, o, name, subject, 400) }); err == nil {
						t.Errorf("%s was done", name)
					}
				}
				if diff := cmp.Diff(was, ledgers(t, db, o)); diff != "" {
					t.Error(diff)
				}
			})
		}
	})
}

// An operation must have the amount, owner and operator of the earlier one.
func TestDifferentAmountOwnerOrOperatorIsRefused(t *testing.T) {
	t.Parallel()
	eachFunded(t, 10_000, func(t *testing.T, db *sqlstore.DB, o schema.Owner) {
		other := addAccount(t, db, "two")
		fund(t, db, other, "pay_2", 10_000)
		for _, owner := range []schema.Owner{o, other} {
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return act(tx, owner, kindReserve, "txn_"+owner.Account, 400) })
		}
		subject := "txn_" + o.Account
		try := func(what string, change func(tx *sqlstore.Tx) error) {
			t.Helper()
			if err := db.Update(t.Context(), change); err == nil {
				t.Errorf("%s was done", what)
			}
		}
		for _, amount := range []schema.Paise{399, 401, 0, -400} {
			try("commit", func(tx *sqlstore.Tx) error { return act(tx, o, kindCommit, subject, amount) })
			try("release", func(tx *sqlstore.Tx) error { return act(tx, o, kindRelease, subject, amount) })
		}
		try("reserving nothing", func(tx *sqlstore.Tx) error { return act(tx, o, kindReserve, "txn_x", 0) })
		try("reserving less than nothing", func(tx *sqlstore.Tx) error { return act(tx, o, kindReserve, "txn_x", -1) })
		try("another's commit", func(tx *sqlstore.Tx) error { return act(tx, other, kindCommit, subject, 400) })
		sandbox := schema.Owner{Account: o.Account, World: schema.Sandbox}
		try("a commit in the other world", func(tx *sqlstore.Tx) error { return act(tx, sandbox, kindCommit, subject, 400) })
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return act(tx, o, kindCommit, subject, 400) })
		try("another operator's refund", func(tx *sqlstore.Tx) error { return Refund(tx, noon, o, subject, "Jio", 400) })
		try("a larger refund", func(tx *sqlstore.Tx) error { return act(tx, o, kindRefund, subject, 401) })
		wantBalance(t, db, "at the end", o, Balance{Available: 9600})
		wantBalance(t, db, "of the other", other, Balance{Available: 9600, Held: 400})
	})
}

func TestInsufficientBalanceByOnePaisa(t *testing.T) {
	t.Parallel()
	eachFunded(t, 19_899, func(t *testing.T, db *sqlstore.DB, o schema.Owner) {
		for amount, want := range map[schema.Paise]bool{19_900: false, 19_899: true} {
			var got bool
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) (err error) {
				got, err = Reserve(tx, noon, o, fmt.Sprint("txn_", amount), amount)
				return err
			})
			if got != want {
				t.Errorf("reserving %s: got %v, want %v", amount, got, want)
			}
			if !want {
				wantBalance(t, db, "one paisa short", o, Balance{Available: 19_899})
				continue
			}
			wantBalance(t, db, "to the last paisa", o, Balance{Held: 19_899})
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return Release(tx, noon, o, fmt.Sprint("txn_", amount), amount) })
		}
		never := schema.Owner{Account: o.Account, World: schema.Sandbox}
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
			if ok, err := Reserve(tx, noon, never, "txn_never", 1); err != nil || ok {
				t.Errorf("without a wallet: got %v, %v", ok, err)
			}
			return nil
		})
		wantBalance(t, db, "without a wallet", never, Balance{})
	})
}

// reserveConcurrently reserves an amount for many subjects at once, and returns the number of
// successes.
func reserveConcurrently(t *testing.T, db *sqlstore.DB, o schema.Owner, many int, amount schema.Paise) int {
	t.Helper()
	var together sync.WaitGroup
	var through atomic.Int64
	for i := range many {
		together.Go(func() {
			var ok bool
			err := db.Update(context.Background(), func(tx *sqlstore.Tx) (err error) {
				ok, err = Reserve(tx, noon, o, fmt.Sprintf("txn_%03d", i), amount)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if ok {
				through.Add(1)
			}
		})
	}
	together.Wait()
	return int(through.Load())
}

func TestConcurrentReservationsAreBounded(t *testing.T) {
	t.Parallel()
	eachFunded(t, 1000, func(t *testing.T, db *sqlstore.DB, o schema.Owner) {
		if got := reserveConcurrently(t, db, o, 2, 501); got != 1 {
			t.Errorf("got %d, want 1", got)
		}
		wantBalance(t, db, "afterwards", o, Balance{Available: 499, Held: 501})
	})
}

func TestManyConcurrentReservations(t *testing.T) {
	t.Parallel()
	eachFunded(t, 1000, func(t *testing.T, db *sqlstore.DB, o schema.Owner) {
		if got := reserveConcurrently(t, db, o, 100, 30); got != 33 {
			t.Errorf("got %d, want 33", got)
		}
		wantBalance(t, db, "afterwards", o, Balance{Available: 10, Held: 990})
	})
}

// Of a concurrent commit and release of one subject one succeeds, even if other subjects have
// reserved enough for both.
func TestSubjectEndsOnce(t *testing.T) {
	t.Parallel()
	eachFunded(t, 100_000, func(t *testing.T, db *sqlstore.DB, o schema.Owner) {
		const many = 20
		for i := range many {
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return act(tx, o, kindReserve, fmt.Sprint("txn_", i), 100) })
			var together sync.WaitGroup
			var done atomic.Int64
			for _, name := range []string{kindCommit, kindRelease, kindCommit, kindRelease} {
				together.Go(func() {
					err := db.Update(context.Background(), func(tx *sqlstore.Tx) error { return act(tx, o, name, fmt.Sprint("txn_", i), 100) })
					if err == nil {
						done.Add(1)
					}
				})
			}
			together.Wait()
			if got := done.Load(); got != 1 {
				t.Fatalf("subject %d ended %d times", i, got)
			}
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return act(tx, o, kindReserve, fmt.Sprint("txn_kept_", i), 100) })
		}
		sums := ledgers(t, db, o)
		wantBalance(t, db, "afterwards", o, Balance{Available: schema.Paise(sums[available]), Held: many * 100})
	})
}

// An immediate recharge: one transaction for each half.
func BenchmarkReserveCommit(b *testing.B) {
	db := sqlstoretest.SQLite(b)
	o := addAccount(b, db, "one")
	fund(b, db, o, "pay_0", 1e15)
	b.ReportAllocs()
	b.SetParallelism(64) // as many wait for one commit
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			subject := fmt.Sprintf("txn_%026d", n.Add(1))
			sqlstoretest.Update(b, db, func(tx *sqlstore.Tx) error { return act(tx, o, kindReserve, subject, 19_900) })
			sqlstoretest.Update(b, db, func(tx *sqlstore.Tx) error { return act(tx, o, kindCommit, subject, 19_900) })
		}
	})
}
