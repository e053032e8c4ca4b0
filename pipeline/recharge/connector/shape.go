package connector

import (
	"slices"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge"
	"vayu/schema"
)

// The calls of an aggregator.
const (
	submit  = "submit"
	enquire = "enquire"
	refund  = "refund"
	detect  = "detect"
	plans   = "plans"
)

// outcomes are what a status can be mapped to.
var outcomes = map[string]recharge.Outcome{
	"success":        recharge.Succeeded,
	"failed":         recharge.Failed,
	"pending":        recharge.Pending,
	"unknown":        recharge.Unknown,
	"not_subscriber": recharge.NotSubscriber,
	"refunded":       recharge.Reversed,
	"refused":        recharge.Failed, // a refund
}

// Which statuses can be said where. That it does not know an order is an answer to
// an enquiry only: elsewhere it would be taken for the leave to send it again.
var (
	ofOrder   = []string{"success", "failed", "pending", "not_subscriber", "refunded"}
	ofEnquiry = append(slices.Clone(ofOrder), "unknown")
	ofRefund  = []string{"refunded", "pending", "refused"}
	ofNumber  = []string{"found", "unknown"}
)

// codes are why a recharge can have failed.
var codes = []string{
	string(schema.OperatorNetworkError), string(schema.InvalidNumber), string(schema.AmountNotSupported),
	string(schema.OperatorUnavailable), string(schema.InsufficientBalance),
}

// What says which order a call is about. They carry out each reference at most once,
// so that no order goes without.
const (
	ourName   = "reference"
	theirName = "provider_ref"
)

// orderFields are what the templates of calls about an order can name.
var orderFields = []string{ourName, theirName, "type", "number", "operator", "circle", "amount", "paise", "created"}

// submitFields are those of an order that they have not heard of yet.
var submitFields = slices.DeleteFunc(slices.Clone(orderFields), func(f string) bool { return f == theirName })

// shape is what a description of an aggregator holds. A word that nobody knows may
// stand for pending, and for nothing else.
func shape() httpconnector.Shape {
	status := func(values []string) httpconnector.AnswerShape {
		return httpconnector.AnswerShape{
			"status":    {Needed: true, Values: values, Defaults: []string{"pending"}},
			"reference": {}, "provider_ref": {},
		}
	}
	eitherName := []string{ourName, theirName}
	order := func(values []string) httpconnector.AnswerShape {
		s := status(values)
		s["circle"] = httpconnector.FieldShape{}
		s["code"] = httpconnector.FieldShape{Values: codes, Defaults: codes}
		return s
	}
	told := order(ofOrder)
	told["reference"] = httpconnector.FieldShape{Needed: true}
	return httpconnector.Shape{
		Calls: map[string]httpconnector.CallShape{
			submit:  {Needed: true, Fields: submitFields, Names: []string{ourName}, Answer: order(ofOrder)},
			enquire: {Needed: true, Fields: orderFields, Names: eitherName, Answer: order(ofEnquiry)},
			refund:  {Fields: orderFields, Names: eitherName, Answer: status(ofRefund)},
			detect: {Fields: []string{"number"}, Aside: true, Answer: httpconnector.AnswerShape{
				"status": {Values: ofNumber}, "operator": {Stated: true}, "circle": {},
			}},
			plans: {Fields: []string{"operator", "circle"}, Aside: true, List: true, Answer: httpconnector.AnswerShape{
				"amount": {Needed: true}, "days": {}, "description": {},
			}},
		},
		Callback: told,
	}
}
