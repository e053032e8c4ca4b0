package wallet

import (
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// entry is one change of the ledger. It moves an amount between the two ledgers that [route]
// returns for its kind. Its subject is the recharge or payment that causes the change.
type entry struct {
	subject, kind string
	operator      string // owner of the clearing ledger; empty if none
	amount        schema.Paise
}

const postingColumns = "INSERT INTO posting (subject, kind, ledger, account_id, mode, amount, at) "

const insertEntry = postingColumns + "VALUES ($1, $2, $3, $5, $6, -CAST($7 AS BIGINT), $8), ($1, $2, $4, $5, $6, $7, $8)"

// insertNext inserts both postings of an entry. It does so only if the subject has a required
// earlier entry with the same amount and owner, and no entry of an excluded kind.
const insertNext = postingColumns + `
	SELECT p.subject, CAST($2 AS TEXT), side.column1, p.account_id, p.mode, side.column2 * p.amount, CAST($8 AS BIGINT)
	FROM posting p CROSS JOIN (VALUES (CAST($3 AS TEXT), -1), (CAST($4 AS TEXT), 1)) AS side
	WHERE p.subject = $1 AND p.kind = $9 AND p.ledger = $10 AND p.account_id = $5 AND p.mode = $6 AND p.amount = $7
	AND NOT EXISTS (SELECT 1 FROM posting b WHERE b.subject = $1 AND b.kind = $11)`

// post inserts both postings. The primary key rejects a second entry of that kind for the subject.
func (e entry) post(tx *sqlstore.Tx, now time.Time, o schema.Owner) error {
	from, to := route(e.kind, e.operator)
	_, err := tx.Exec(insertEntry, e.subject, e.kind, from, to, o.Account, o.World.String(), int64(e.amount), now.UnixMicro())
	if err != nil {
		return fmt.Errorf("posting the %s of %s: %w", e.kind, e.subject, err)
	}
	return nil
}

// postAfter executes the SQL statement `balance`, if not empty, and then inserts the postings. It
// fails if `balance` changes no row. It also fails unless the subject has an entry of the kind
// `before` and none of the kind `bar`.
func (e entry) postAfter(tx *sqlstore.Tx, now time.Time, o schema.Owner, balance, before, bar string) error {
	world := o.World.String()
	if balance != "" {
		n, err := tx.Exec(balance, int64(e.amount), o.Account, world)
		if err != nil {
			return fmt.Errorf("changing the balance for the %s of %s: %w", e.kind, e.subject, err)
		}
		if n != 1 {
			return fmt.Errorf("the %s of %s: %s has not %s", e.kind, e.subject, o.Account, e.amount)
		}
	}
	from, to := route(e.kind, e.operator)
	_, at := route(before, e.operator) // ledger to which the earlier entry moved the amount
	n, err := tx.Exec(insertNext, e.subject, e.kind, from, to, o.Account, world, int64(e.amount), now.UnixMicro(),
		before, at, bar)
	if err != nil {
		return fmt.Errorf("posting the %s of %s: %w", e.kind, e.subject, err)
	}
	if n != 2 {
		return fmt.Errorf("the %s of %s: there is no %s of %s before it, or it has ended otherwise", e.kind, e.subject, before, e.amount)
	}
	return nil
}

// Ledgers. Only the first two are balances of a wallet.
const (
	available      = "available" // can be spent on recharges
	held           = "held"      // reserved for pending recharges
	cash           = "cash"      // source of payments
	suspense       = "suspense"  // source of amounts that operators charged for failed recharges
	clearingPrefix = "clearing:" // followed by an operator: the amounts that it received
)

// Kinds of ledger entries.
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
