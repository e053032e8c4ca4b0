// Package wallet has the double-entry ledger of accounts. It records payments into wallets, amounts that are reserved
// for pending recharges, and amounts that operators received. Every entry has two postings with the sum zero. A wallet
// stores its balances, which equal the sums of the account's postings. A balance is never negative.
package wallet

import (
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// These statements change balances. They run before postings are inserted. On PostgreSQL, they lock
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
	enough, err := tx.Expect(1, takeAvailable, int64(amount), o.Account, o.World.String())
	if err != nil {
		return false, fmt.Errorf("reserving for %s: %w", subject, err)
	}
	if !enough {
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
	b, _, err := sqlstore.One(q, func(row sqlstore.Scanner) (b Balance, err error) {
		err = row.Scan(&b.Available, &b.Held)
		return b, err
	}, "SELECT available, held FROM wallet WHERE account_id = $1 AND mode = $2", o.Account, o.World.String())
	if err != nil {
		err = fmt.Errorf("reading the balance of %s: %w", o.Account, err)
	}
	return b, err
}

// giveNew adds to the available balance, like giveAvailable. It creates the wallet if necessary.
const giveNew = `INSERT INTO wallet (account_id, mode, available, held) VALUES ($2, $3, $1, 0)
	ON CONFLICT (account_id, mode) DO UPDATE SET available = wallet.available + excluded.available
	RETURNING available`

// topup credits a payment to an account, and returns the new available balance.
func topup(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject string, amount schema.Paise) (schema.Paise, error) {
	var after schema.Paise
	if err := tx.QueryRow(giveNew, int64(amount), o.Account, o.World.String()).Scan(&after); err != nil {
		return 0, fmt.Errorf("crediting the payment of %s: %w", o.Account, err)
	}
	return after, entry{subject, kindTopup, "", amount}.post(tx, now, o)
}

// entry is one change of the ledger. It moves an amount between the two ledgers that [route]
// returns for its kind. Its subject is the recharge or payment that causes the change.
type entry struct {
	subject, kind string
	operator      string // owner of the clearing ledger; empty if none
	amount        schema.Paise
}

const postingColumns = "INSERT INTO posting (subject, kind, ledger, account_id, mode, amount, at) "

const insertEntry = postingColumns + "VALUES ($1, $2, $3, $5, $6, -CAST($7 AS BIGINT), $8), ($1, $2, $4, $5, $6, $7, $8)"

// insertNext inserts both postings of an entry. The subject must have the required earlier entry (kind $9) of the same
// amount and owner, and no entry of the kind $11. Otherwise the statement inserts nothing.
const insertNext = postingColumns + `
	SELECT p.subject, CAST($2 AS TEXT), side.column1, p.account_id, p.mode, side.column2 * p.amount, CAST($8 AS BIGINT)
	FROM posting p CROSS JOIN (VALUES (CAST($3 AS TEXT), -1), (CAST($4 AS TEXT), 1)) AS side
	WHERE p.subject = $1 AND p.kind = $9 AND p.ledger = $10 AND p.account_id = $5 AND p.mode = $6 AND p.amount = $7
	AND NOT EXISTS (SELECT 1 FROM posting b WHERE b.subject = $1 AND b.kind = $11)`

// post inserts both postings of an entry. The primary key rejects a second entry of the same kind and subject.
func (e entry) post(tx *sqlstore.Tx, now time.Time, o schema.Owner) error {
	from, to := route(e.kind, e.operator)
	_, err := tx.Expect(2, insertEntry, e.subject, e.kind, from, to, o.Account, o.World.String(), int64(e.amount), now.UnixMicro())
	if err != nil {
		return fmt.Errorf("posting the %s of %s: %w", e.kind, e.subject, err)
	}
	return nil
}

// postAfter executes the SQL statement `balance`, unless it is "", and then inserts the postings. It fails if
// `balance` changes no row, or if the subject has no entry of the kind `before`, or has one of the kind `bar`.
func (e entry) postAfter(tx *sqlstore.Tx, now time.Time, o schema.Owner, balance, before, bar string) error {
	world := o.World.String()
	if balance != "" {
		enough, err := tx.Expect(1, balance, int64(e.amount), o.Account, world)
		if err != nil {
			return fmt.Errorf("changing the balance for the %s of %s: %w", e.kind, e.subject, err)
		}
		if !enough {
			return fmt.Errorf("the %s of %s: %s has not %s", e.kind, e.subject, o.Account, e.amount)
		}
	}
	from, to := route(e.kind, e.operator)
	_, at := route(before, e.operator) // ledger to which the earlier entry moved the amount
	inserted, err := tx.Expect(2, insertNext, e.subject, e.kind, from, to, o.Account, world, int64(e.amount), now.UnixMicro(),
		before, at, bar)
	if err != nil {
		return fmt.Errorf("posting the %s of %s: %w", e.kind, e.subject, err)
	}
	if !inserted {
		return fmt.Errorf("the %s of %s: there is no %s of %s before it, or it has ended otherwise", e.kind, e.subject, before, e.amount)
	}
	return nil
}

// These are the ledgers. Only the first two are balances of a wallet.
const (
	available      = "available" // can be spent on recharges
	held           = "held"      // reserved for pending recharges
	cash           = "cash"      // source of payments
	suspense       = "suspense"  // source of amounts that operators charged for failed recharges
	clearingPrefix = "clearing:" // followed by an operator: the amounts that it received
)

// These are the kinds of ledger entries.
const (
	kindTopup   = "topup"   // a payment succeeded
	kindReserve = "reserve" // a recharge began
	kindCommit  = "commit"  // the recharge succeeded
	kindRelease = "release" // the recharge failed
	kindRefund  = "refund"  // the recharge was refunded after its success
	kindSuspend = "suspend" // the operator charged for a recharge that had failed
)

// route returns the two ledgers between which an entry of a kind moves its amount.
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
