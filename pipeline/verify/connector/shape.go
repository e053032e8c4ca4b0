package connector

import (
	"slices"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/httpconnector/answer"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// Names of the calls of a bank in a description.
const (
	deposit = "deposit"
	enquire = "enquire"
	resolve = "resolve"
)

// outcomes maps the values of the field status in a description to outcomes.
var outcomes = map[string]bank.Outcome{
	"found":     bank.Found,
	"not_found": bank.NotFound,
	"pending":   bank.Pending,
	"unknown":   bank.Unknown,
	"not_made":  bank.NotMade,
}

// Values that the field status may have in the answers to each call.
var (
	ofDeposit = []string{"found", "not_found", "pending", "not_made"} // also for callbacks
	// ofEnquiry also has unknown, which permits a second deposit. Answers to other calls must not
	// permit it.
	ofEnquiry = append(slices.Clone(ofDeposit), "unknown")
	ofAddress = []string{"found", "not_found", "not_made"} // a lookup is never pending
)

// noReason is the value by which an answer states that there is no suspicion.
const noReason = "none"

// Fields that identify an order.
const (
	ourReference   = "reference"    // each order has its own, because banks deduplicate by it
	theirReference = "provider_ref" // the bank's reference, from its first answer
)

// orderFields are the fields that templates of enquiries can use.
var orderFields = []string{ourReference, theirReference, "account", "ifsc", "created_at"}

// depositFields are the fields that templates of deposits can use. They do not include the bank's
// reference, because it does not exist yet.
var depositFields = slices.DeleteFunc(slices.Clone(orderFields), func(f string) bool { return f == theirReference })

// shape returns the required form of a bank's description. An unmapped status may become pending,
// but not for a lookup. An unmapped account status has no default, because active would be a guess.
func shape() httpconnector.Shape {
	var standings []string
	for _, s := range schema.AccountStatuses {
		standings = append(standings, string(s))
	}
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
