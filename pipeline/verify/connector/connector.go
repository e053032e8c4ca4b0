// Package connector builds a bank.Connection from a description file of a bank or an aggregator
// with JSON over HTTP. docs/banks.md describes the file.
//
// An answer is an outcome only if the file maps it to one. An unmapped value, an HTML page, 5xx or
// no answer is an error. After such an error, the bank may have made a deposit.
package connector

import (
	"slices"

	"vayu/internal/config/section"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/httpconnector/answer"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// provider calls a bank. It is safe for concurrent use.
type provider struct {
	client  *httpconnector.Client
	methods []schema.VerificationMethod // nil for all
}

// Open reads a description file and returns its connection, without connecting. The error
// lists every fault of the file with its line.
func Open(file string, o httpconnector.Options) (bank.Connection, error) {
	p := &provider{}
	client, err := httpconnector.Open(file, shape(), p.read, o)
	if err != nil {
		return bank.Connection{}, err
	}
	p.client = client
	c := bank.Connection{
		Link: transaction.Link{
			Name: client.Name, World: client.World, Timeout: client.Timeout, ResendAfter: client.ResendAfter, Concurrency: client.Concurrency, Available: client.Available,
		},
		Methods: p.methods, Bank: p,
	}
	if client.HasCallback() {
		c.Receiver = p
	}
	return c, nil
}

func (b *provider) read(root *section.Section, d *httpconnector.Description) {
	s := root.Section("verify")
	d.ReadPolicy(s)
	b.readMethods(s, root.Section("calls"), d)
}

// requiredCalls are the calls that each method needs. An enquiry finds out whether a deposit was
// made. Without an enquiry, a deposit could be made twice.
var requiredCalls = map[schema.VerificationMethod][]string{
	schema.VerifyPennyDrop: {deposit, enquire},
	schema.VerifyUPI:       {resolve},
}

var allMethods = []schema.VerificationMethod{schema.VerifyPennyDrop, schema.VerifyUPI}

// readMethods reads the supported methods. If the file does not list methods, a method is supported if the file
// describes one of its calls.
func (b *provider) readMethods(s, calls *section.Section, d *httpconnector.Description) {
	for _, e := range s.List("methods") {
		m := schema.VerificationMethod(e.Text)
		switch {
		case requiredCalls[m] == nil:
			s.Faultf("methods", "must hold %s or %s", allMethods[0], allMethods[1])
		case slices.Contains(b.methods, m):
			s.Faultf("methods", "contains %s twice", m)
		default:
			b.methods = append(b.methods, m)
		}
	}
	if s.List("methods") == nil {
		for _, m := range allMethods {
			if slices.ContainsFunc(requiredCalls[m], d.HasCall) {
				b.methods = append(b.methods, m)
			}
		}
		if b.methods == nil {
			calls.Faultf("", "has neither deposit with enquire nor resolve")
		}
	}
	for _, m := range b.methods {
		for _, call := range requiredCalls[m] {
			if !d.HasCall(call) {
				calls.Faultf(call, "is missing, which %s needs", m)
			}
		}
	}
	if len(b.methods) == len(allMethods) {
		b.methods = nil
	}
}

// These are the names of a bank's calls in a description.
const (
	deposit = "deposit"
	enquire = "enquire"
	resolve = "resolve"
)

// outcomes maps the values of the field `status` in a description to outcomes.
var outcomes = map[string]bank.Outcome{
	"found":     bank.Found,
	"not_found": bank.NotFound,
	"pending":   bank.Pending,
	"unknown":   bank.Unknown,
	"not_made":  bank.NotMade,
}

// These are the values that the field `status` may have in the answers to each call.
var (
	ofDeposit = []string{"found", "not_found", "pending", "not_made"} // also for callbacks
	// ofEnquiry also has unknown, which permits a second deposit. No other call may permit one.
	ofEnquiry = append(slices.Clone(ofDeposit), "unknown")
	ofAddress = []string{"found", "not_found", "not_made"} // a lookup is never pending
)

// noReason is the value of the field `reasons` with which a bank states that it has not flagged the account as
// suspicious.
const noReason = "none"

// These fields identify an order.
const (
	ourReference   = "reference"    // each order has its own, because banks deduplicate by it
	theirReference = "provider_ref" // the bank's reference, from its first answer
)

// orderFields are the fields that templates of enquiries can use.
var orderFields = []string{ourReference, theirReference, "account", "ifsc", "created_at"}

// depositFields are the fields that templates of deposits can use. They lack the bank's reference,
// because the bank assigns it only with its answer.
var depositFields = slices.DeleteFunc(slices.Clone(orderFields), func(f string) bool { return f == theirReference })

// shape returns the rules for a bank's description. A description may treat unmapped statuses as pending, except for
// the call `resolve`, whose outcome is never pending. A description cannot have a default for unmapped account
// statuses, because any default, such as "active", would be a guess.
func shape() httpconnector.Shape {
	standings := transaction.Names(schema.AccountStatuses)
	about := func(values, defaults []string) answer.Shape {
		return answer.Shape{
			"status":    {Required: true, Values: values, Defaults: defaults},
			"reference": {}, "provider_ref": {}, "name": {}, "bank": {}, "branch": {},
			"account_status": {Values: standings, Absent: standings, RequiredWith: map[string]string{"status": "found"}},
			"reasons":        {Repeated: true, Values: append(slices.Clone(bank.Reasons), noReason), Defaults: bank.Reasons, Fallback: bank.FlaggedByBank},
		}
	}
	order := func(values []string) answer.Shape {
		s := about(values, []string{"pending"})
		s["utr"] = answer.FieldShape{}
		return s
	}
	callback := order(ofDeposit)
	callback["reference"] = answer.FieldShape{Required: true}
	return httpconnector.Shape{
		Calls: map[string]httpconnector.CallShape{
			deposit: {Fields: depositFields, Identifiers: []string{ourReference}, Answer: order(ofDeposit)},
			enquire: {Fields: orderFields, Identifiers: []string{ourReference, theirReference}, Answer: order(ofEnquiry)},
			resolve: {Fields: []string{ourReference, "vpa", "created_at"}, Identifiers: []string{"vpa"}, Answer: about(ofAddress, nil)},
		},
		Callback: callback,
	}
}
