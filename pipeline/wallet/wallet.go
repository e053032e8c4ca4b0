// Package wallet keeps the books: what accounts have paid in, what is set aside
// for recharges that are under way, and what operators were given. It is double
// entry: every change is an entry whose postings add up to nothing, and the
// balances of an account are a cache of its postings that can never be negative.
package wallet

import (
	"time"

	"vayu/internal/state"
	"vayu/schema"
)

// Reserve sets an amount aside for a subject, by one conditional update: false when
// the account has less than that, and then nothing has changed.
func Reserve(tx *state.Tx, now time.Time, o schema.Owner, subject string, amount schema.Paise) (bool, error) {
	panic("not written yet")
}

// Commit gives what was reserved for a subject to an operator.
func Commit(tx *state.Tx, now time.Time, o schema.Owner, subject, operator string, amount schema.Paise) error {
	panic("not written yet")
}

// Release gives what was reserved for a subject back to the account.
func Release(tx *state.Tx, now time.Time, o schema.Owner, subject string, amount schema.Paise) error {
	panic("not written yet")
}

// Refund takes back from an operator what it was given for a subject, and gives it
// to the account.
func Refund(tx *state.Tx, now time.Time, o schema.Owner, subject, operator string, amount schema.Paise) error {
	panic("not written yet")
}

// Suspend notes that an operator has taken an amount for a subject that was
// released: the account is not charged, and the ledger suspense shows who is.
func Suspend(tx *state.Tx, now time.Time, o schema.Owner, subject, operator string, amount schema.Paise) error {
	panic("not written yet")
}

// Balance is what an account has.
type Balance struct {
	Available, Held schema.Paise
}

// BalanceOf reads what an account has; nothing for one that never had a wallet.
func BalanceOf(q state.Querier, o schema.Owner) (Balance, error) {
	panic("not written yet")
}
