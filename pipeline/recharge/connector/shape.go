package connector

import (
	"slices"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/httpconnector/answer"
	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

// These are the names of an aggregator's calls in a description.
const (
	submit  = "submit"
	enquire = "enquire"
	refund  = "refund"
	detect  = "detect"
	plans   = "plans"
)

// outcomes maps each value that a description can assign to a provider's status to the outcome of the order.
var outcomes = map[string]order.Outcome{
	"success":        order.Succeeded,
	"failed":         order.Failed,
	"pending":        order.Pending,
	"unknown":        order.Unknown,
	"not_subscriber": order.NotSubscriber,
	"refunded":       order.Reversed,
	"refused":        order.Failed, // the answer to a refund call
}

// These are the values to which a description can map the status in each kind of answer. Among the answers about an
// order, only that to an enquiry can be unknown, because this value permits sending the order again.
var (
	ofOrder   = []string{"success", "failed", "pending", "not_subscriber", "refunded"}
	ofEnquiry = append(slices.Clone(ofOrder), "unknown")
	ofRefund  = []string{"refunded", "pending", "refused"}
	ofNumber  = []string{"found", "unknown"}
)

// codes are the reasons of a failed recharge to which a description can map a provider's error code.
var codes = []string{
	string(schema.OperatorNetworkError), string(schema.InvalidNumber), string(schema.AmountNotSupported),
	string(schema.OperatorUnavailable), string(schema.InsufficientBalance),
}

// These fields identify an order. Every order has a reference of its own. The provider carries out
// at most one order for each reference.
const (
	ourName   = "reference"
	theirName = "provider_ref"
)

// orderFields are the fields that templates of calls about an order can use.
var orderFields = []string{ourName, theirName, "type", "number", "operator", "circle", "amount", "paise", "created"}

// submitFields are the fields that templates of submit calls can use. They do not include the
// provider's reference, which comes with the answer.
var submitFields = slices.DeleteFunc(slices.Clone(orderFields), func(f string) bool { return f == theirName })

// shape returns the rules for an aggregator's description. The only default that a description can choose for
// unmapped statuses of an order is pending.
func shape() httpconnector.Shape {
	status := func(values []string) answer.Shape {
		return answer.Shape{
			"status":    {Required: true, Values: values, Defaults: []string{"pending"}},
			"reference": {}, "provider_ref": {},
		}
	}
	eitherName := []string{ourName, theirName}
	order := func(values []string) answer.Shape {
		s := status(values)
		s["circle"] = answer.FieldShape{}
		s["code"] = answer.FieldShape{Values: codes, Defaults: codes}
		return s
	}
	callback := order(ofOrder)
	callback["reference"] = answer.FieldShape{Required: true}
	return httpconnector.Shape{
		Calls: map[string]httpconnector.CallShape{
			submit:  {Required: true, Fields: submitFields, Identifiers: []string{ourName}, Answer: order(ofOrder)},
			enquire: {Required: true, Fields: orderFields, Identifiers: eitherName, Answer: order(ofEnquiry)},
			refund:  {Fields: orderFields, Identifiers: eitherName, Answer: status(ofRefund)},
			detect: {Fields: []string{"number"}, Separate: true, Answer: answer.Shape{
				"status": {Values: ofNumber}, "operator": {PathRequired: true}, "circle": {},
			}},
			plans: {Fields: []string{"operator", "circle"}, Separate: true, List: true, Answer: answer.Shape{
				"amount": {Required: true}, "days": {}, "description": {},
			}},
		},
		Callback: callback,
	}
}
