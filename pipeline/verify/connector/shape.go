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

// outcomes maps the status values of a description.
var outcomes = map[string]verify.Outcome{
	"found":     verify.Found,
	"not_found": verify.NotFound,
	"pending":   verify.Pending,
	"unknown":   verify.Unknown,
	"not_made":  verify.NotMade,
}

// Statuses that each answer may have. Unknown answers an enquiry only; elsewhere it would
// permit a second deposit. The lookup of an address is never pending.
var (
	ofDeposit = []string{"found", "not_found", "pending", "not_made"}
	ofEnquiry = append(slices.Clone(ofDeposit), "unknown")
	ofAddress = []string{"found", "not_found", "not_made"}
)

// noReason is the value for a bank's explicit statement that there is no suspicion.
const noReason = "none"

// Fields that identify an order. Banks deduplicate by reference, so each order has one.
const (
	ourReference   = "reference"
	theirReference = "provider_ref"
)

// orderFields are the fields that templates of deposit calls can use.
var orderFields = []string{ourReference, theirReference, "account", "ifsc", "created_at"}

// depositFields are those without the bank's reference, which does not exist yet.
var depositFields = slices.DeleteFunc(slices.Clone(orderFields), func(f string) bool { return f == theirReference })

// shape returns the required form of a bank's description. An unmapped status may default to
// pending only. The account status of a found account must be explicit, because a default of
// active would be a guess.
func shape() httpconnector.Shape {
	var standings []string
	for _, s := range schema.AccountStatuses {
		standings = append(standings, string(s))
	}
	about := func(values, defaults []string) httpconnector.AnswerShape {
		return httpconnector.AnswerShape{
			"status":    {Required: true, Values: values, Defaults: defaults},
			"reference": {}, "provider_ref": {}, "name": {}, "bank": {}, "branch": {},
			"account_status": {Values: standings, Absent: standings, RequiredWith: map[string]string{"status": "found"}},
			"reasons":        {Repeated: true, Values: append(slices.Clone(verify.Reasons), noReason), Defaults: verify.Reasons, Fallback: verify.FlaggedByBank},
		}
	}
	order := func(values []string) httpconnector.AnswerShape {
		s := about(values, []string{"pending"})
		s["utr"] = httpconnector.FieldShape{}
		return s
	}
	callback := order(ofDeposit)
	callback["reference"] = httpconnector.FieldShape{Required: true}
	return httpconnector.Shape{
		Calls: map[string]httpconnector.CallShape{
			deposit: {Fields: depositFields, Identifiers: []string{ourReference}, Answer: order(ofDeposit)},
			enquire: {Fields: orderFields, Identifiers: []string{ourReference, theirReference}, Answer: order(ofEnquiry)},
			resolve: {Fields: []string{ourReference, "vpa", "created_at"}, Identifiers: []string{"vpa"}, Answer: about(ofAddress, nil)},
		},
		Callback: callback,
	}
}
