package reconcile

import (
	"fmt"
	"slices"
	"strings"
)

// Layout says what in a file is what, where its own names do not.
type Layout struct {
	// Columns names columns of the file by what they hold: reference, status, amount
	// and id. Those that are not there are found by their usual names.
	Columns map[string]string
	// Statuses are further words of the file for a status.
	Statuses map[string]Status
}

// ColumnNames are what columns can hold. The last need not be there.
var ColumnNames = []string{"reference", "status", "amount", "id"}

// usual are the names that columns have in the files of operators and aggregators,
// in the form that fold gives. What they call "transaction id" is their own.
var usual = map[string][]string{
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

// columns are the places of what is read, counted from 0; id is -1 when there is none.
type columns struct{ reference, status, amount, id, count int }

// HeaderError says why the first row of a file cannot be the header of it.
type HeaderError struct{ Text string }

// Error implements error.
func (e *HeaderError) Error() string { return e.Text }

// find looks for the columns in the names of a header.
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

// place is where one column is, -1 when it is nowhere. Two that could be it are a
// fault: to guess would settle recharges by the wrong one.
func (l Layout) place(names []string, what string) (int, error) {
	asked, said := l.Columns[what]
	fits := func(name string) bool { return slices.Contains(usual[what], fold(name)) }
	if said {
		fits = func(name string) bool { return strings.EqualFold(name, strings.TrimSpace(asked)) }
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
	case len(found) > 1 && said:
		return 0, &HeaderError{fmt.Sprintf("%d columns are called %q; rename all but one in the file", len(found), asked)}
	case len(found) > 1:
		return 0, &HeaderError{fmt.Sprintf("%s could be column %s; say which one with --columns %s=NAME", what, quoted(pick(names, found)), what)}
	case said:
		return 0, &HeaderError{fmt.Sprintf("no column %q for %s, as --columns says; the first row says %s", asked, what, quoted(names))}
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

// shownNames and shownName bound what an error repeats of a file that is none.
const (
	shownNames = 30
	shownName  = 40
)

// quoted is a list of names for people.
func quoted(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i == shownNames {
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

// short is the beginning of a text.
func short(text string) string {
	if len(text) <= shownName {
		return text
	}
	return text[:shownName] + "…"
}

// status is what a word of the file means.
func (l Layout) status(word string) (Status, bool) {
	for own, s := range l.Statuses {
		if strings.EqualFold(own, word) {
			return s, true
		}
	}
	s, ok := statuses[fold(word)]
	return s, ok
}
