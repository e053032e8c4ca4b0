package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"vayu/pipeline/csvfile"
)

// Layout describes a file in which columns or statuses have unusual names.
type Layout struct {
	// Columns maps the content of a column (reference, status, amount or id) to the column's name. For a content that
	// is not in the map, the usual names are tried.
	Columns map[string]string
	// Statuses maps the file's status names to values of Status, in addition to the usual names.
	Statuses map[string]Status
}

// ColumnNames are the kinds of columns. The last one, id, is optional.
var ColumnNames = []string{"reference", "status", "amount", "id"}

// usualNames has, for each kind of column (see ColumnNames), its common names in the files of providers. The names are
// in lower case, without blanks and punctuation (see fold). A "transaction id" in such a file is the provider's own id,
// not our reference.
var usualNames = map[string][]string{
	"reference": {
		"reference", "referenceid", "referenceno", "referencenumber", "ref", "refid", "refno", "refnumber", "yourref", "yourreference",
		"clientref", "clientrefid", "clientrefno", "clientreference", "clientreferenceid", "clientid", "clienttxnid", "clienttransactionid",
		"merchantref", "merchantrefid", "merchantrefno", "merchantreference", "merchantreferenceid", "merchanttxnid", "merchanttransactionid",
		"partnerref", "partnerrefid", "partnerreference", "partnertxnid", "partnerreqid", "agentref", "agentrefid", "agenttxnid",
		"externalref", "externalreference", "requestid", "reqid", "orderid", "orderno", "ordernumber", "usertxnid", "apitxnid",
	},
	"status": {"status", "txnstatus", "transactionstatus", "rechargestatus", "finalstatus", "currentstatus", "state", "result"},
	"amount": {
		"amount", "amt", "amountrs", "amountinr", "amountinrs", "amountrupees", "rechargeamount", "rechargeamt", "txnamount", "txnamt",
		"transactionamount", "transactionamt", "denomination", "facevalue",
	},
	"id": {
		"txnid", "txnno", "transactionid", "transactionno", "transactionnumber", "optxnid", "opid", "operatorid", "operatorref", "operatorrefid",
		"operatorreference", "operatortxnid", "operatortransactionid", "providerid", "providerref", "providertxnid", "systemid", "systemtxnid", "rrn",
	},
}

// columns has the positions of the columns to read, from 0. `id` is -1 if the file has no ids. `count` is the number of
// all columns of the file.
type columns struct{ reference, status, amount, id, count int }

// find finds the columns by their names in the header.
func (l Layout) find(names []string) (columns, error) {
	var missing []string
	var at [4]int
	for i, what := range ColumnNames {
		found, err := l.place(names, what)
		if err != nil {
			return columns{}, err
		}
		if at[i] = found; found < 0 && what != "id" {
			missing = append(missing, what)
		}
	}
	if len(missing) > 0 {
		if strings.Join(names, "") == "" {
			return columns{}, &csvfile.HeaderError{Text: "the first row has no names in it, and must be the header"}
		}
		return columns{}, headerErrorf("no column for %s; the first row has %s; name the column with --columns %s=NAME",
			strings.Join(missing, ", "), quoted(names), strings.Join(missing, "=NAME,"))
	}
	return columns{reference: at[0], status: at[1], amount: at[2], id: at[3], count: len(names)}, nil
}

// place returns the position of the column with the given content, such as amount; -1 if there is none. It fails if two
// columns fit, because a guess could settle recharges by the wrong column, or if the column in l.Columns is missing.
func (l Layout) place(names []string, what string) (int, error) {
	configured, ok := l.Columns[what]
	fits := func(name string) bool { return slices.Contains(usualNames[what], fold(name)) }
	if ok {
		fits = func(name string) bool { return strings.EqualFold(name, strings.TrimSpace(configured)) }
	}
	at := -1
	var found []string
	for i, name := range names {
		if fits(name) {
			at, found = i, append(found, name)
		}
	}
	switch {
	case len(found) > 1 && ok:
		return 0, headerErrorf("%d columns are called %q; rename all but one in the file", len(found), configured)
	case len(found) > 1:
		return 0, headerErrorf("%s could be column %s; say which one with --columns %s=NAME", what, quoted(found), what)
	case ok && at < 0:
		return 0, headerErrorf("no column %q for %s, as named by --columns; the first row has %s", configured, what, quoted(names))
	}
	return at, nil
}

func headerErrorf(format string, args ...any) error {
	return &csvfile.HeaderError{Text: fmt.Sprintf(format, args...)}
}

// These are the limits of a list of names in an error: the number of names, and the bytes of each name.
const (
	maxQuotedNames  = 30
	maxQuotedLength = 40
)

// quoted formats a list of names for people.
func quoted(names []string) string {
	var texts []string
	for _, name := range names[:min(len(names), maxQuotedNames)] {
		texts = append(texts, fmt.Sprintf("%q", short(name)))
	}
	text := strings.Join(texts, ", ")
	if more := len(names) - len(texts); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// short truncates a text to maxQuotedLength.
func short(text string) string {
	if len(text) <= maxQuotedLength {
		return text
	}
	return text[:maxQuotedLength] + "…"
}

// Status is the state of a transaction in an operator's file.
type Status string

// These are the values of Status.
const (
	Success  Status = "success"
	Failed   Status = "failed"
	Pending  Status = "pending"
	Refunded Status = "refunded" // carried out and reversed
)

// Statuses lists all statuses.
var Statuses = []Status{Success, Failed, Pending, Refunded}

// statuses maps the usual status names in files, as fold returns them, to values of Status.
var statuses = map[string]Status{
	"s": Success, "success": Success, "successful": Success, "succeeded": Success, "succeed": Success,
	"completed": Success, "complete": Success, "ok": Success,

	"f": Failed, "fail": Failed, "failed": Failed, "failure": Failed, "unsuccessful": Failed, "rejected": Failed, "declined": Failed,

	"p": Pending, "pending": Pending, "inprogress": Pending, "inprocess": Pending, "processing": Pending, "initiated": Pending,
	"accepted": Pending, "submitted": Pending, "queued": Pending,

	"r": Refunded, "refund": Refunded, "refunded": Refunded, "reversed": Refunded, "reversal": Refunded, "reverted": Refunded,
}

// status returns the status that a text in the file means. It returns false for an unknown text.
func (l Layout) status(text string) (Status, bool) {
	for own, s := range l.Statuses {
		if strings.EqualFold(own, text) {
			return s, true
		}
	}
	s, ok := statuses[fold(text)]
	return s, ok
}

// fold removes all ASCII characters but letters and digits, and returns lower case. So
// "Client Ref. No" and "client_ref_no" are one name.
func fold(text string) string {
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 0x80:
			out = append(out, c)
		}
	}
	return string(out)
}
