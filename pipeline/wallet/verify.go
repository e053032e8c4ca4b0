package wallet

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Report is what [Verify] has found.
type Report struct {
	// Ledgers is what every ledger adds up to, by world and name.
	Ledgers []LedgerSum
	// Postings, Recharges and Payments are how many were looked at.
	Postings, Recharges, Payments int64
	// Wrong is how many faults there are, and Faults the first of them.
	Wrong  int64
	Faults []Fault
}

// LedgerSum is what one ledger of all accounts adds up to.
type LedgerSum struct {
	World  schema.World
	Ledger string
	Sum    schema.Paise
}

// Fault is one thing that does not fit.
type Fault struct {
	Owner   schema.Owner
	Subject string // id of the recharge or payment; empty for a fault of the wallet
	Text    string
}

// String is the fault in one line.
func (f Fault) String() string {
	if f.Subject == "" {
		return fmt.Sprintf("%s %s: %s", f.Owner.Account, f.Owner.World, f.Text)
	}
	return fmt.Sprintf("%s %s: %s: %s", f.Owner.Account, f.Owner.World, f.Subject, f.Text)
}

const (
	// faultsMost are kept; when there are more, one of the first tells why.
	faultsMost = 1000
	// verifyRows is how many rows one statement looks at: half a second's work at
	// the most, where a statement is ended after ten.
	verifyRows = 20_000
)

// Verify proves the books, of one account when its id is given, beside a service
// that goes on working: each comparison is one statement, and so of one moment. What
// must be so:
//
//   - every entry has two postings, which add up to nothing, and a recharge or
//     payment that it is about;
//   - what a wallet says is what its postings add up to, and what it holds is what
//     its pending recharges amount to;
//   - every recharge and every payment has the entries of its state, of its amount
//     and operator, and no others.
//
// The error is one of reading, or says that there is no such account.
func Verify(ctx context.Context, db *sqlstore.DB, account string) (Report, error) {
	return verify(db.View(ctx), account, verifyRows)
}

// verify is Verify with statements about another number of rows.
func verify(view sqlstore.View, account string, rows int) (Report, error) {
	v := verifier{view: view, rows: rows, sums: map[LedgerSum]schema.Paise{}}
	err := v.each(account, v.checkBalances, v.checkRecharges, v.checkPayments)
	if err == nil {
		v.finish()
	}
	return v.report, err
}

// each makes checks of both worlds of an account, or of all.
func (v *verifier) each(account string, checks ...func() error) error {
	accounts, err := sqlstore.All(v.view, func(row sqlstore.Scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	}, "SELECT id FROM account WHERE $1 = '' OR id = $1 ORDER BY id", account)
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

// verifier is a walk through the books.
type verifier struct {
	view   sqlstore.View
	rows   int
	owner  schema.Owner
	sums   map[LedgerSum]schema.Paise // by world and ledger
	report Report
}

func (v *verifier) wrongf(subject, format string, args ...any) {
	v.report.Wrong++
	if len(v.report.Faults) < faultsMost {
		v.report.Faults = append(v.report.Faults, Fault{v.owner, subject, fmt.Sprintf(format, args...)})
	}
}

// finish turns the sums into a list.
func (v *verifier) finish() {
	for l, sum := range v.sums {
		l.Sum = sum
		v.report.Ledgers = append(v.report.Ledgers, l)
	}
	slices.SortFunc(v.report.Ledgers, func(a, b LedgerSum) int {
		return cmp.Or(cmp.Compare(a.World, b.World), cmp.Compare(a.Ledger, b.Ledger))
	})
}
