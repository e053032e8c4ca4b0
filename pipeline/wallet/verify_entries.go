package wallet

import (
	"database/sql"
	"maps"
	"slices"
	"strings"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// subject is a recharge or a payment, with its postings.
type subject struct {
	id, state           string
	amount              schema.Paise
	operator, reference string // empty for a payment
	alarm               string
	sent                bool
	postings            []posting
}

// posting is one of the two postings of an entry.
type posting struct {
	kind, ledger string
	owner        schema.Owner
	amount       schema.Paise
}

const (
	// selectRechargeEntries reads a page of recharges and their postings in one snapshot.
	selectRechargeEntries = `SELECT r.id, r.state, r.amount, r.operator, r.reference, r.alarm, r.sent, p.kind, p.ledger, p.account_id, p.mode, p.amount
		FROM (SELECT id, state, amount, operator, reference, alarm, sent FROM recharge
			WHERE account_id = $1 AND mode = $2 AND id > $3 ORDER BY id LIMIT $4) AS r
		LEFT JOIN posting p ON p.subject = r.id ORDER BY r.id`
	// selectPaymentEntries reads a page of payments and their postings in one snapshot.
	selectPaymentEntries = `SELECT y.id, y.state, y.amount, '', '', '', 0, p.kind, p.ledger, p.account_id, p.mode, p.amount
		FROM (SELECT id, state, amount FROM payment WHERE account_id = $1 AND mode = $2 AND id > $3 ORDER BY id LIMIT $4) AS y
		LEFT JOIN posting p ON p.subject = y.id ORDER BY y.id`
)

func (v *verifier) checkRecharges() error {
	n, err := v.checkSubjects(selectRechargeEntries, (*subject).entriesOfRecharge)
	v.report.Recharges += n
	return err
}

func (v *verifier) checkPayments() error {
	n, err := v.checkSubjects(selectPaymentEntries, (*subject).entriesOfPayment)
	v.report.Payments += n
	return err
}

// checkSubjects checks all recharges or all payments of an owner, in pages. It returns their number. The function
// `allowed` returns the sets of entries that a subject may have.
func (v *verifier) checkSubjects(query string, allowed func(*subject) []string) (all int64, err error) {
	const postingsEach = 4 // usual for recharges
	size, after := max(v.rows/postingsEach, 1), ""
	for {
		var page []*subject
		err := sqlstore.Each(v.view, func(row sqlstore.Scanner) error {
			s, p, err := scanSubject(row)
			if err != nil {
				return err
			}
			if len(page) == 0 || page[len(page)-1].id != s.id {
				page = append(page, s)
			}
			if p != nil {
				last := page[len(page)-1]
				last.postings = append(last.postings, *p)
			}
			return nil
		}, query, v.owner.Account, v.owner.World.String(), after, size)
		if err != nil {
			return all, err
		}
		for _, s := range page {
			v.checkSubject(s, allowed(s))
			after = s.id
		}
		all += int64(len(page))
		if len(page) < size {
			return all, nil
		}
	}
}

func scanSubject(row sqlstore.Scanner) (*subject, *posting, error) {
	var s subject
	var sent int64
	var kind, ledger, account, mode sql.NullString
	var amount sql.NullInt64
	err := row.Scan(&s.id, &s.state, &s.amount, &s.operator, &s.reference, &s.alarm, &sent, &kind, &ledger, &account, &mode, &amount)
	s.sent = sent != 0
	if err != nil || !kind.Valid {
		return &s, nil, err
	}
	owner := schema.Owner{Account: account.String, World: schema.WorldOf(mode.String)}
	return &s, &posting{kind.String, ledger.String, owner, schema.Paise(amount.Int64)}, nil
}

// kindsKey joins kinds of entries into one sorted text, so that two sets of kinds can be compared.
func kindsKey(all ...string) string { return strings.Join(slices.Sorted(slices.Values(all)), " ") }

// entriesOfPayment returns the set of entries that a payment in this state has (see kindsKey).
func (s *subject) entriesOfPayment() []string {
	if schema.PaymentState(s.state) == schema.PaymentSuccess {
		return []string{kindTopup}
	}
	return []string{""}
}

// entriesOfRecharge returns the sets of entries that a recharge in this state may have (see kindsKey). A recharge that
// failed before its amount was reserved has none. If an order succeeds after its recharge failed, the recharge also has
// an entry "suspend". If a second order replaced the first one, this applies only to the second order.
func (s *subject) entriesOfRecharge() []string {
	released := kindsKey(kindReserve, kindRelease)
	switch schema.RechargeState(s.state) {
	case schema.RechargePending:
		return []string{kindReserve}
	case schema.RechargeSuccess:
		return []string{kindsKey(kindReserve, kindCommit)}
	case schema.RechargeRefunded:
		return []string{kindsKey(kindReserve, kindCommit, kindRefund)}
	case schema.RechargeFailed:
	}
	suspended := kindsKey(kindReserve, kindRelease, kindSuspend)
	switch {
	case s.alarm == "late_success" && s.reference == "": // the recharge failed before anything was reserved
		return []string{""}
	case s.alarm == "late_success" && s.reference == s.id:
		return []string{suspended}
	case s.alarm == "late_success":
		return []string{suspended, released}
	case s.sent:
		return []string{released}
	}
	return []string{released, ""}
}

// checkSubject checks that a subject has one of the allowed sets of entries. It also checks that each entry moves the
// amount between the two ledgers that the function route returns for the entry.
func (v *verifier) checkSubject(s *subject, allowed []string) {
	byKind := map[string][]posting{}
	for _, p := range s.postings {
		byKind[p.kind] = append(byKind[p.kind], p)
	}
	have := slices.Sorted(maps.Keys(byKind))
	if got := kindsKey(have...); !slices.Contains(allowed, got) {
		v.wrongf(s.id, "it is %s, of %s, and has the entries [%s]; want [%s]", s.state, s.amount.Rupees(), got, strings.Join(allowed, "] or ["))
	}
	for _, kind := range have {
		from, to := route(kind, s.operator)
		want := []posting{{kind, from, v.owner, -s.amount}, {kind, to, v.owner, s.amount}}
		got := byKind[kind]
		if len(got) != 2 || !slices.Contains(got, want[0]) || !slices.Contains(got, want[1]) {
			v.wrongf(s.id, "its %s does not move %s from %s to %s", kind, s.amount.Rupees(), from, to)
		}
	}
}
