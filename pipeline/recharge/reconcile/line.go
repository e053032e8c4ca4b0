package reconcile

import (
	"vayu/schema"
)

// Line is one transaction of an operator's file.
type Line struct {
	Number    int    // line number in the file, from 1; of the first line if a row has several
	Reference string // our reference, as the operator wrote it
	ID        string // the operator's id of the transaction; empty if the file has none
	Status    Status
	Amount    schema.Paise
}

// Status is the state of a transaction in an operator's file.
type Status string

// Values of Status.
const (
	Success  Status = "success"
	Failed   Status = "failed"
	Pending  Status = "pending"
	Refunded Status = "refunded" // carried out and reversed
)

// statuses maps the usual status names in files, as fold returns them, to values of Status.
var statuses = map[string]Status{
	"s": Success, "success": Success, "successful": Success, "succeeded": Success, "succeed": Success,
	"completed": Success, "complete": Success, "ok": Success,

	"f": Failed, "fail": Failed, "failed": Failed, "failure": Failed, "unsuccessful": Failed, "rejected": Failed, "declined": Failed,

	"p": Pending, "pending": Pending, "inprogress": Pending, "inprocess": Pending, "processing": Pending, "initiated": Pending,
	"accepted": Pending, "submitted": Pending, "queued": Pending,

	"r": Refunded, "refund": Refunded, "refunded": Refunded, "reversed": Refunded, "reversal": Refunded, "reverted": Refunded,
}

// Statuses lists all statuses.
var Statuses = []Status{Success, Failed, Pending, Refunded}

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
