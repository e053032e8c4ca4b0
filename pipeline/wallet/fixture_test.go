package wallet

import (
	"context"
	"testing"
	"time"

	"vayu/internal/account"
	"vayu/internal/state"
	"vayu/internal/state/statetest"
	"vayu/schema"
)

// noon is when things happen unless a test says otherwise.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// do makes a change in a store.
func do(t testing.TB, db *state.DB, change func(tx *state.Tx) error) {
	t.Helper()
	if err := db.Update(context.Background(), change); err != nil {
		t.Fatal(err)
	}
}

// exec runs a statement.
func exec(t testing.TB, db *state.DB, statement string, args ...any) {
	t.Helper()
	do(t, db, func(tx *state.Tx) error { _, err := tx.Exec(statement, args...); return err })
}

// addAccount makes an account and returns it in the live world.
func addAccount(t testing.TB, db *state.DB, name string) schema.Owner {
	t.Helper()
	var made account.Holder
	do(t, db, func(tx *state.Tx) (err error) {
		made, _, err = account.CreateAccount(tx, map[string]int64{"unlimited": 0}, name, "unlimited", noon)
		return err
	})
	return schema.Owner{Account: made.ID, World: schema.Live}
}

// fund gives an owner money by a payment.
func fund(t testing.TB, db *state.DB, o schema.Owner, subject string, amount schema.Paise) {
	t.Helper()
	do(t, db, func(tx *state.Tx) error {
		_, err := topup(tx, noon, o, subject, amount)
		return err
	})
}

// wantBalance demands what an owner has.
func wantBalance(t testing.TB, db *state.DB, what string, o schema.Owner, want Balance) {
	t.Helper()
	got, err := BalanceOf(db.View(context.Background()), o)
	if err != nil || got != want {
		t.Errorf("%s: got %+v, %v; want %+v", what, got, err, want)
	}
}

// eachBook runs a test on both engines, with an account that has an amount.
func eachBook(t *testing.T, amount schema.Paise, run func(t *testing.T, db *state.DB, o schema.Owner)) {
	t.Helper()
	statetest.Each(t, func(t *testing.T, db *state.DB) {
		o := addAccount(t, db, "one")
		if amount > 0 {
			fund(t, db, o, "pay_0", amount)
		}
		run(t, db, o)
	})
}
