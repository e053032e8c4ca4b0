package wallet

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Report is the result of [Verify].
type Report struct {
	// Ledgers has the sum of every ledger, sorted by world (live or sandbox) and ledger name.
	Ledgers []LedgerSum
	// Postings, Recharges and Payments are the numbers of checked rows.
	Postings, Recharges, Payments int64
	// FaultCount is the number of all faults. Faults has at most the first faultsMost.
	FaultCount int64
	Faults     []Fault
}

// LedgerSum is the sum of one ledger over all accounts.
type LedgerSum struct {
	World  schema.World
	Ledger string
	Sum    schema.Paise
}

// Fault is one inconsistency in the ledger of an account.
type Fault struct {
	Owner   schema.Owner
	Subject string // id of the recharge or payment; empty for a fault of the wallet
	Text    string
}

// String returns the fault in one line.
func (f Fault) String() string {
	if f.Subject == "" {
		return fmt.Sprintf("%s %s: %s", f.Owner.Account, f.Owner.World, f.Text)
	}
	return fmt.Sprintf("%s %s: %s: %s", f.Owner.Account, f.Owner.World, f.Subject, f.Text)
}

const (
	// faultsMost is the maximum length of Report.Faults. The first ones usually show the cause.
	faultsMost = 1000
	// verifyRows limits the rows that one statement reads: a page, or a part of the postings. A statement
	// with so many rows takes half a second. The time limit of a statement is ten seconds.
	verifyRows = 20_000
)

// Verify checks the ledger of the given account; "" is for all accounts. The service may run during the check, because
// each comparison reads the rows that may change in one statement. Verify checks that:
//
//   - every entry has two postings with the sum zero, and belongs to a recharge or payment;
//   - the balances of a wallet equal the sums of the account's postings, and the held amount
//     equals the sum of the pending recharges;
//   - every recharge and every payment has a set of entries that its state allows. The entries
//     have the amount and the operator of the recharge or payment.
//
// The report lists the violations. Verify returns an error if a read fails or the account does not exist.
func Verify(ctx context.Context, db *sqlstore.DB, account string) (Report, error) {
	return verify(db.View(ctx), account, verifyRows)
}

// verify does the same as [Verify]. `rows` replaces verifyRows, so that tests can reduce it.
func verify(view sqlstore.View, account string, rows int) (Report, error) {
	v := verifier{view: view, rows: rows, sums: map[LedgerSum]schema.Paise{}}
	err := v.each(account, v.checkBalances, v.checkRecharges, v.checkPayments)
	if err == nil {
		v.finish()
	}
	return v.report, err
}

// each runs the checks for both worlds (live and sandbox) of an account, or of every account if `account` is "".
func (v *verifier) each(account string, checks ...func() error) error {
	accounts, err := sqlstore.All(v.view, sqlstore.Scalar[string], "SELECT id FROM account WHERE $1 = '' OR id = $1 ORDER BY id", account)
	if err != nil {
		return fmt.Errorf("listing the accounts: %w", err)
	}
	if account != "" && len(accounts) == 0 {
		return fmt.Errorf("there is no account %q", account)
	}
	for _, id := range accounts {
		for _, world := range schema.Worlds {
			v.owner = schema.Owner{Account: id, World: world}
			for _, check := range checks {
				if err := check(); err != nil {
					return fmt.Errorf("reading the books of %s: %w", id, err)
				}
			}
		}
	}
	return nil
}

// verifier is the state of a ledger check.
type verifier struct {
	view   sqlstore.View
	rows   int
	owner  schema.Owner
	sums   map[LedgerSum]schema.Paise // sums by world and ledger
	report Report
}

func (v *verifier) wrongf(subject, format string, args ...any) {
	v.report.FaultCount++
	if len(v.report.Faults) < faultsMost {
		v.report.Faults = append(v.report.Faults, Fault{v.owner, subject, fmt.Sprintf(format, args...)})
	}
}

// finish adds the sums of the ledgers to the report, as a sorted list.
func (v *verifier) finish() {
	for l, sum := range v.sums {
		l.Sum = sum
		v.report.Ledgers = append(v.report.Ledgers, l)
	}
	slices.SortFunc(v.report.Ledgers, func(a, b LedgerSum) int {
		return cmp.Or(cmp.Compare(a.World, b.World), cmp.Compare(a.Ledger, b.Ledger))
	})
}

// VerifyAuditLog checks that every final recharge, payment and verification has its audit row. If `account` is "", it
// checks all accounts. It fills only the fields FaultCount and Faults of the report. It returns errors like [Verify].
func VerifyAuditLog(ctx context.Context, db *sqlstore.DB, account string) (Report, error) {
	return verifyAudited(db.View(ctx), account, verifyRows)
}

// verifyAudited does the same as [VerifyAuditLog]. `rows` is the maximum number of rows of a page.
func verifyAudited(view sqlstore.View, account string, rows int) (Report, error) {
	v := verifier{view: view, rows: rows}
	err := v.each(account, v.checkAuditLog)
	return v.report, err
}

// selectAudited lists the rows of a table by id. The third column is true if a row is pending, or has its audit row.
// The subquery uses the audit log's index by subject.
const selectAudited = `SELECT id, state, state = 'pending' OR EXISTS (SELECT 1 FROM audit a
		WHERE a.account_id = t.account_id AND a.mode = t.mode AND a.subject = t.id AND a.action = '%[1]s.' || t.state)
	FROM %[1]s t WHERE account_id = $1 AND mode = $2 AND id > $3 ORDER BY id LIMIT $4`

// checkAuditLog checks that each recharge, payment and verification of v.owner in a final state has its audit row. The
// service may run meanwhile, because it commits a row and its audit row together.
func (v *verifier) checkAuditLog() error {
	for _, table := range []string{"recharge", "payment", "verification"} {
		statement := fmt.Sprintf(selectAudited, table)
		for after, more := "", true; more; {
			n := 0
			err := sqlstore.Each(v.view, func(row sqlstore.Scanner) error {
				var final string
				var found bool
				if err := row.Scan(&after, &final, &found); err != nil {
					return err
				}
				n++
				if !found {
					v.wrongf(after, "the audit log has no row %s.%s of it", table, final)
				}
				return nil
			}, statement, v.owner.Account, v.owner.World.String(), after, v.rows)
			if err != nil {
				return err
			}
			more = n == v.rows
		}
	}
	return nil
}
