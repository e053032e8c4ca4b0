package reconcile

import (
	"fmt"
	"slices"
	"strings"
)

// Layout describes a file in which columns or statuses have unusual names.
type Layout struct {
	// Columns maps contents (reference, status, amount and id) to the names of their columns. A
	// content that is not in the map is found by the usual names of its column.
	Columns map[string]string
	// Statuses maps the file's status names to values of Status, in addition to the usual names.
	Statuses map[string]Status
}

// ColumnNames are the contents that columns can have. The last one, id, is optional.
var ColumnNames = []string{"reference", "status", "amount", "id"}

// usualNames are the common column names of operators and aggregators, in lower case and without
// blanks and punctuation (see fold). The keys are the contents. The "transaction id" in such a
// file is the provider's own id, not our reference.
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

// columns are the positions of the columns to read, from 0; id is -1 if the file has no ids. count
// is the number of all columns.
type columns struct{ reference, status, amount, id, count int }

// HeaderError means that the file has no usable header, so that no line can be read.
type HeaderError struct{ Text string }

// Error implements error.
func (e *HeaderError) Error() string { return e.Text }

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
			return columns{}, &HeaderError{"the first row has no names in it, and must be the header"}
		}
		return columns{}, &HeaderError{fmt.Sprintf("no column for %s; the first row says %s; say which it is with --columns %s=NAME",
			strings.Join(missing, ", "), quoted(names), strings.Join(missing, "=NAME,"))}
	}
	return columns{reference: at[0], status: at[1], amount: at[2], id: at[3], count: len(names)}, nil
}

// place returns the position of the column with the given content, such as amount; -1 if there is
// none. It fails if two columns fit, because a guess could settle recharges by the wrong column.
func (l Layout) place(names []string, what string) (int, error) {
	configured, ok := l.Columns[what]
	fits := func(name string) bool { return slices.Contains(usualNames[what], fold(name)) }
	if ok {
		fits = func(name string) bool { return strings.EqualFold(name, strings.TrimSpace(configured)) }
	}
	var found []int
	for i, name := range names {
		if fits(name) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1 && ok:
		return 0, &HeaderError{fmt.Sprintf("%d columns are called %q; rename all but one in the file", len(found), configured)}
	case len(found) > 1:
		return 0, &HeaderError{fmt.Sprintf("%s could be column %s; say which one with --columns %s=NAME", what, quoted(pick(names, found)), what)}
	case ok:
		return 0, &HeaderError{fmt.Sprintf("no column %q for %s, as --columns says; the first row says %s", configured, what, quoted(names))}
	}
	return -1, nil
}

func pick(names []string, at []int) []string {
	picked := make([]string, len(at))
	for i, n := range at {
		picked[i] = names[n]
	}
	return picked
}

// Limits of a list of names in an error: the number of names, and the bytes of each name.
const (
	maxQuotedNames  = 30
	maxQuotedLength = 40
)

// quoted formats a list of names for people.
func quoted(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i == maxQuotedNames {
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", short(name))
	}
	return b.String()
}

// short truncates a text to maxQuotedLength.
func short(text string) string {
	if len(text) <= maxQuotedLength {
		return text
	}
	return text[:maxQuotedLength] + "…"
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
