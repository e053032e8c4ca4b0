// Package wallet keeps the books: what accounts have paid in, what is set aside
// for recharges that are under way, and what operators were given. It is double
// entry: every change is an entry whose postings add up to nothing, and the
// balances of an account are a cache of its postings that can never be negative.
package wallet

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Ledgers of an account, and those of the rest of the world. What an operator was
// given is in the ledger clearingPrefix + its name.
const (
	available      = "available"
	held           = "held"
	cash           = "cash"
	suspense       = "suspense"
	clearingPrefix = "clearing:"
)

// Kinds of entries.
const (
	kindTopup   = "topup"
	kindReserve = "reserve"
	kindCommit  = "commit"
	kindRelease = "release"
	kindRefund  = "refund"
	kindSuspend = "suspend"
)

// route is between which ledgers an entry of a kind moves its amount.
func route(kind, operator string) (from, to string) {
	clearing := clearingPrefix + operator
	switch kind {
	case kindTopup:
		return cash, available
	case kindReserve:
		return available, held
	case kindCommit:
		return held, clearing
	case kindRelease:
		return held, available
	case kindRefund:
		return clearing, available
	case kindSuspend:
		return suspense, clearing
	}
	return "", ""
}

// Balances are changed before postings are made: that locks the wallet on
// PostgreSQL until the transaction ends, so that entries of an account are made
// one after the other and each sees those before it.
const (
	takeAvailable = `UPDATE wallet SET available = available - $1, held = held + $1
		WHERE account_id = $2 AND mode = $3 AND available >= $1`
	giveAvailable = "UPDATE wallet SET available = available + $1 WHERE account_id = $2 AND mode = $3"
	takeHeld      = "UPDATE wallet SET held = held - $1 WHERE account_id = $2 AND mode = $3 AND held >= $1"
	returnHeld    = `UPDATE wallet SET available = available + $1, held = held - $1
		WHERE account_id = $2 AND mode = $3 AND held >= $1`
)

// Reserve sets an amount aside for a subject, by one conditional update: false when
// the account has less than that, and then nothing has changed. It fails, and with
// it the transaction, when something was reserved for the subject before.
func Reserve(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject string, amount schema.Paise) (bool, error) {
	if amount <= 0 {
		return false, fmt.Errorf("reserving %s for %s: nothing to reserve", amount, subject)
	}
	n, err := tx.Exec(takeAvailable, int64(amount), o.Account, o.World.String())
	if err != nil {
		return false, fmt.Errorf("reserving for %s: %w", subject, err)
	}
	if n == 0 {
		return false, nil
	}
	return true, entry{subject, kindReserve, "", amount}.post(tx, now, o)
}

// Commit gives what was reserved for a subject to an operator. It fails, and with
// it the transaction, unless exactly that is still reserved.
func Commit(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject, operator string, amount schema.Paise) error {
	e := entry{subject, kindCommit, operator, amount}
	return e.postAfter(tx, now, o, takeHeld, kindReserve, kindRelease)
}

// Release gives what was reserved for a subject back to the account. It fails, and
// with it the transaction, unless exactly that is still reserved.
func Release(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject string, amount schema.Paise) error {
	e := entry{subject, kindRelease, "", amount}
	return e.postAfter(tx, now, o, returnHeld, kindReserve, kindCommit)
}

// Refund takes back from an operator what it was given for a subject, and gives it
// to the account. It fails, and with it the transaction, unless the operator was
// given exactly that and has not given it back.
func Refund(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject, operator string, amount schema.Paise) error {
	e := entry{subject, kindRefund, operator, amount}
	return e.postAfter(tx, now, o, giveAvailable, kindCommit, "")
}

// Suspend notes that an operator has taken an amount for a subject that was
// released: the account is not charged, and the ledger suspense shows who is. It
// fails, and with it the transaction, unless exactly that was released.
func Suspend(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject, operator string, amount schema.Paise) error {
	e := entry{subject, kindSuspend, operator, amount}
	return e.postAfter(tx, now, o, "", kindRelease, "")
}

// Balance is what an account has.
type Balance struct {
	Available, Held schema.Paise
}

// BalanceOf reads what an account has; nothing for one that never had a wallet.
func BalanceOf(q sqlstore.Querier, o schema.Owner) (Balance, error) {
	var b Balance
	err := q.QueryRow("SELECT available, held FROM wallet WHERE account_id = $1 AND mode = $2", o.Account, o.World.String()).
		Scan(&b.Available, &b.Held)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Balance{}, fmt.Errorf("reading the balance of %s: %w", o.Account, err)
	}
	return b, nil
}
