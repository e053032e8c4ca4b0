package wallet

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// selectPayments reads a page of payments. An empty filter or cursor excludes no payment.
const selectPayments = selectPayment + ` WHERE account_id = $1 AND mode = $2 AND ($3 = '' OR id < $3)
	AND ($4 = '' OR state = $4) AND ($5 = '' OR ref_id = $5) AND created_at >= $6 AND created_at < $7 ORDER BY id DESC LIMIT $8`

// listPayments answers GET /v1/wallet/topups. The newest payments come first.
func (s *Service) listPayments(c *httpapi.Call) (httpapi.Response, error) {
	var f schema.RequestErrors
	status, ref := c.Params["status"], c.Params["ref_id"]
	if status != "" && !slices.Contains(schema.PaymentStates, schema.PaymentState(status)) {
		f.Add("status", "The status must be pending, success or failed.")
	}
	if ref != "" && !schema.IsRef(ref) {
		f.Add("ref_id", "The ref_id must have 1 to 255 printable characters.")
	}
	from, to := pagination.TimeRange(&f, c.Params)
	list := "payments?" + url.Values{"status": {status}, "ref_id": {ref}, "span": spanName(from, to)}.Encode()
	limit, after := pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, list, c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	rows, err := sqlstore.All(s.DB.View(c.Context()), scanPayment, selectPayments,
		c.Account, c.World.String(), after, status, ref, from, to, limit+1)
	if err != nil {
		return httpapi.Response{}, err
	}
	return pagination.Reply(rows, limit,
		func(p *Payment) (schema.Payment, error) { return p.toWire(), nil },
		func(p *Payment) *string { return pagination.Cursor(c, list, p.ID) })
}

func spanName(from, to int64) []string {
	return []string{strconv.FormatInt(from, 10), strconv.FormatInt(to, 10)}
}

// statementLine is a line of an account statement: how a ledger entry changed the two balances.
type statementLine struct {
	subject, kind   string // subject: id of the recharge or payment
	at              int64  // microseconds
	available, held schema.Paise
}

// selectLines scans the index "posting_account" backwards, so the newest entry comes first. An entry has two postings,
// but the statement shows one line: the posting in "held" for a commit, otherwise the posting in "available". Entries
// of a subject with the same time are sorted by kind, so that the reserve, which was the first of them, comes last.
const selectLines = selectLine + "FROM posting " + whereLines

// selectSubjectLines does the same as selectLines for one subject (a recharge or payment). It first materializes the
// few postings of the subject. Otherwise SQLite would scan all postings of the account.
const selectSubjectLines = "WITH few AS MATERIALIZED (SELECT * FROM posting WHERE subject = $9) " + selectLine + "FROM few " + whereLines

const selectLine = "SELECT subject, kind, ledger, at, amount "

const whereLines = `WHERE account_id = $1 AND mode = $2 AND at >= $3 AND at < $4 AND at <= $5
	AND (ledger = 'available' OR ledger = 'held' AND kind = 'commit')
	AND (at < $5 OR subject < $6 OR subject = $6 AND kind > $7)
	ORDER BY at DESC, subject DESC, kind LIMIT $8`

func scanLine(row sqlstore.Scanner) (l statementLine, err error) {
	var ledger string
	var amount schema.Paise
	if err := row.Scan(&l.subject, &l.kind, &ledger, &l.at, &amount); err != nil {
		return statementLine{}, err
	}
	switch {
	case ledger == held:
		l.held = amount
	case l.kind == kindReserve || l.kind == kindRelease:
		l.available, l.held = amount, -amount
	default:
		l.available = amount
	}
	return l, nil
}

// listEntries answers GET /v1/wallet/entries. The newest entries come first.
func (s *Service) listEntries(c *httpapi.Call) (httpapi.Response, error) {
	var f schema.RequestErrors
	subject, from, to := subjectIn(&f, c.Params)
	list := "entries?" + url.Values{"subject": {subject}, "span": spanName(from, to)}.Encode()
	limit, last := pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, list, c.Params)
	totals := pagination.Totals(&f, c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	after := statementLine{at: math.MaxInt64} // for the first page: later than any entry
	if last != "" {
		if _, err := fmt.Sscan(last, &after.at, &after.subject, &after.kind); err != nil {
			pagination.RejectCursor(&f)
			return httpapi.Response{}, f.Problem()
		}
	}
	query, args := selectLines, []any{c.Account, c.World.String(), from, to, after.at, after.subject, after.kind, limit + 1}
	if subject != "" {
		query, args = selectSubjectLines, append(args, subject)
	}
	rows, err := sqlstore.All(s.DB.View(c.Context()), scanLine, query, args...)
	if err != nil {
		return httpapi.Response{}, err
	}
	reply, err := pagination.Reply(rows, limit,
		func(l statementLine) (schema.WalletEntry, error) { return l.toWire(), nil },
		func(l statementLine) *string {
			return pagination.Cursor(c, list, fmt.Sprint(l.at, " ", l.subject, " ", l.kind))
		})
	if err == nil && totals && last == "" {
		err = s.addTotals(c, &reply, query, args)
	}
	return reply, err
}

// subjects matches the ids of recharges and payments.
var subjects = regexp.MustCompile("^(txn|pay)_[0-9A-HJKMNP-TV-Z]{26}$")

// subjectIn parses the query parameters "subject", "from" and "to". `subject` is "" for all subjects.
// `from` and `to` are as in [pagination.TimeRange].
func subjectIn(f *schema.RequestErrors, params map[string]string) (subject string, from, to int64) {
	subject, ok := params["subject"]
	if ok && !subjects.MatchString(subject) {
		f.Add("subject", "The subject must be the id of a recharge (txn_…) or a payment (pay_…).")
	}
	from, to = pagination.TimeRange(f, params)
	return subject, from, to
}

func (l statementLine) toWire() schema.WalletEntry {
	return schema.WalletEntry{
		Subject: l.subject, Kind: l.kind, At: schema.FormatExact(time.UnixMicro(l.at)), Available: l.available, Held: l.held,
	}
}
