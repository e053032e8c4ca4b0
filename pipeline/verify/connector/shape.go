package connector

import (
	"slices"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/verify"
	"vayu/schema"
)

// The calls of a bank.
const (
	deposit = "deposit"
	enquire = "enquire"
	resolve = "resolve"
)

// outcomes are what a status can be mapped to.
var outcomes = map[string]verify.Outcome{
	"found":     verify.Found,
	"not_found": verify.NotFound,
	"pending":   verify.Pending,
	"unknown":   verify.Unknown,
	"not_made":  verify.NotMade,
}

// Which statuses can be said where. That it does not know an order is an answer to
// an enquiry only: elsewhere it would be taken for the leave to make the deposit
// again. A question about an address has its answer at once.
var (
	ofDeposit = []string{"found", "not_found", "pending", "not_made"}
	ofEnquiry = append(slices.Clone(ofDeposit), "unknown")
	ofAddress = []string{"found", "not_found", "not_made"}
)

// none is what stands for no reason at all, such as the word of a bank for it.
const none = "none"

// What says which order a call is about. They make at most one deposit for each
// reference, so that no order goes without.
const (
	ourName   = "reference"
	theirName = "provider_ref"
)

// orderFields are what the templates of calls about a deposit can name.
var orderFields = []string{ourName, theirName, "account", "ifsc", "created_at"}

// depositFields are those of an order that they have not heard of yet.
var depositFields = slices.DeleteFunc(slices.Clone(orderFields), func(f string) bool { return f == theirName })

// shape is what a description of a bank holds. A word that nobody knows may stand for
// pending, and for nothing else. How an account stands must be said of each that is
// found: who takes it for active because nobody said so guesses.
func shape() httpconnector.Shape {
	var standings []string
	for _, s := range schema.AccountStatuses {
		standings = append(standings, string(s))
	}
	about := func(values, defaults []string) httpconnector.AnswerShape {
		return httpconnector.AnswerShape{
			"status":    {Needed: true, Values: values, Defaults: defaults},
			"reference": {}, "provider_ref": {}, "name": {}, "bank": {}, "branch": {},
			"account_status": {Values: standings, Absent: standings, NeededWith: map[string]string{"status": "found"}},
			"reasons":        {Many: true, Values: append(slices.Clone(verify.Reasons), none), Defaults: verify.Reasons, Rest: verify.FlaggedByBank},
		}
	}
	order := func(values []string) httpconnector.AnswerShape {
		s := about(values, []string{"pending"})
		s["utr"] = httpconnector.FieldShape{}
		return s
	}
	told := order(ofDeposit)
	told["reference"] = httpconnector.FieldShape{Needed: true}
	return httpconnector.Shape{
		Calls: map[string]httpconnector.CallShape{
			deposit: {Fields: depositFields, Names: []string{ourName}, Answer: order(ofDeposit)},
			enquire: {Fields: orderFields, Names: []string{ourName, theirName}, Answer: order(ofEnquiry)},
			resolve: {Fields: []string{ourName, "vpa", "created_at"}, Names: []string{"vpa"}, Answer: about(ofAddress, nil)},
		},
		Callback: told,
	}
}
