// Package wallet has the double-entry ledger of accounts. It records payments into wallets, amounts
// that are reserved for pending recharges, and amounts that operators received. Every entry has two
// postings with the sum zero. A wallet stores its balances, which equal the sums of the account's
// postings. A balance is never negative.
package wallet

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Statements that change balances. They run before postings are inserted. On PostgreSQL, they lock
// the wallet until the transaction ends, so changes of one wallet happen one after the other.
const (
	takeAvailable = `UPDATE wallet SET available = available - $1, held = held + $1
		WHERE account_id = $2 AND mode = $3 AND available >= $1`
	giveAvailable = "UPDATE wallet SET available = available + $1 WHERE account_id = $2 AND mode = $3"
	takeHeld      = "UPDATE wallet SET held = held - $1 WHERE account_id = $2 AND mode = $3 AND held >= $1"
	returnHeld    = `UPDATE wallet SET available = available + $1, held = held - $1
		WHERE account_id = $2 AND mode = $3 AND held >= $1`
)

// Reserve reserves an amount for a subject (a recharge) by one conditional update. It returns false
// and changes nothing if the available balance is too low. It returns an error if the amount is not
// positive or the subject has a reservation already. On an error, the caller must roll back.
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

// Commit transfers the reserved amount of a subject to an operator. It returns an error unless
// exactly that amount is reserved. After an error, the transaction must be rolled back.
func Commit(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject, operator string, amount schema.Paise) error {
	e := entry{subject, kindCommit, operator, amount}
	return e.postAfter(tx, now, o, takeHeld, kindReserve, kindRelease)
}

// Release returns the reserved amount of a subject to the available balance. It returns an error
// unless exactly that amount is reserved. After an error, the transaction must be rolled back.
func Release(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject string, amount schema.Paise) error {
	e := entry{subject, kindRelease, "", amount}
	return e.postAfter(tx, now, o, returnHeld, kindReserve, kindCommit)
}

// Refund returns a committed amount from an operator to the account. It returns an error unless
// exactly that amount is committed and not refunded. On an error, the caller must roll back.
func Refund(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject, operator string, amount schema.Paise) error {
	e := entry{subject, kindRefund, operator, amount}
	return e.postAfter(tx, now, o, giveAvailable, kindCommit, "")
}

// Suspend records that an operator charged an amount although the amount was released. The
// amount comes from the ledger "suspense", not from the account. Suspend returns an error unless
// exactly that amount was released. After an error, the transaction must be rolled back.
func Suspend(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject, operator string, amount schema.Paise) error {
	e := entry{subject, kindSuspend, operator, amount}
	return e.postAfter(tx, now, o, "", kindRelease, "")
}

// Balance has the available amount of an account, and the amount reserved for pending recharges.
type Balance struct {
	Available, Held schema.Paise
}

// BalanceOf reads the balance of an account. The balance is zero if the account has no wallet.
func BalanceOf(q sqlstore.Querier, o schema.Owner) (Balance, error) {
	var b Balance
	err := q.QueryRow("SELECT available, held FROM wallet WHERE account_id = $1 AND mode = $2", o.Account, o.World.String()).
		Scan(&b.Available, &b.Held)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Balance{}, fmt.Errorf("reading the balance of %s: %w", o.Account, err)
	}
	return b, nil
}
