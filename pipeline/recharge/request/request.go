// Package request reads and validates the bodies and parameters of requests about recharges.
package request

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/pipeline/recharge/numbering"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Request is the request for one recharge, validated without the store and the providers. All fields but Number are
// valid.
type Request struct {
	transaction.Origin

	RefID             string
	Type              schema.RechargeType
	Number            string // ten digits, or the id of a DTH subscriber; as received if Valid is false
	Valid             bool   // false if the number is impossible; the recharge then fails with invalid_number
	RequestedOperator string // canonical name of the operator; empty for auto
	Amount            schema.Paise
	// WaitFull makes the request wait for its full time, because a callback may arrive. Without WaitFull, the request
	// ends early if no status enquiry is due within its time.
	WaitFull bool
}

// These are the limits of the values in a body.
const (
	// longestText limits a text, in characters. Every alias of an operator and every valid number is shorter.
	longestText = 64
	// exactAmount is the largest amount in paise that every JSON parser reads exactly (RFC 7493, 2.2).
	exactAmount schema.Paise = 1<<53 - 1
	// These are the limits of the amount while the operator is unknown.
	minAmount schema.Paise = 10_00
	maxAmount schema.Paise = 10_000_00
)

// Auto is the operator name by which a client lets the service detect the operator.
const Auto = "auto"

// requestBody is the body of POST /v1/recharge, or a record of a batch. Its values stay raw
// JSON, because decoding them would stop at the first fault.
type requestBody struct {
	Mobile       jsontext.Value `json:"mobile"`
	SubscriberID jsontext.Value `json:"subscriber_id"`
	Operator     jsontext.Value `json:"operator"`
	Amount       jsontext.Value `json:"amount"`
	Type         jsontext.Value `json:"type"`
	RefID        jsontext.Value `json:"ref_id"`
}

// Parse parses a body. It leaves Origin and WaitFull unset. The error is a *schema.Problem that lists every fault.
func Parse(body []byte) (Request, error) {
	from, err := httpapi.Decode[requestBody](&httpapi.Call{Body: body})
	if err != nil {
		return Request{}, err
	}
	var f form
	var r Request
	f.number(&r, &from)
	f.operator(&r, from.Operator)
	f.amount(&r, from.Amount)
	if f.required("ref_id", from.RefID) {
		r.RefID = httpapi.Ref(&f.RequestErrors, from.RefID)
	}
	return r, f.ProblemByStatus()
}

// form collects the faults of a request's body.
type form struct {
	schema.RequestErrors

	// least and most are the limits of the amount. After a fault in operator or type, both are 0.
	least, most schema.Paise
}

// required reports whether a required value is present; otherwise it adds a fault.
func (f *form) required(field string, v jsontext.Value) bool {
	if httpapi.HasValue(v) {
		return true
	}
	f.Add(field, "The "+field+" is missing.")
	return false
}

// text reads a string; after a fault it returns "".
func (f *form) text(field string, v jsontext.Value) string {
	text, ok := httpapi.Text(&f.RequestErrors, field, v)
	if ok && (text == "" || utf8.RuneCountInString(text) > longestText || strings.ContainsFunc(text, unicode.IsControl)) {
		f.Add(field, fmt.Sprintf("The %s must have 1 to %d characters and no control characters.", field, longestText))
		return ""
	}
	return text
}

// number reads the type of the recharge, and the mobile number or the id of the DTH subscriber.
func (f *form) number(r *Request, from *requestBody) {
	var mobile, subscriber string
	hasMobile, hasSubscriber := httpapi.HasValue(from.Mobile), httpapi.HasValue(from.SubscriberID)
	if hasMobile {
		mobile = f.text("mobile", from.Mobile)
	}
	if hasSubscriber {
		subscriber = f.text("subscriber_id", from.SubscriberID)
	}
	if f.required("type", from.Type) {
		r.Type = f.kind(from.Type)
	}
	switch {
	case r.Type == schema.DTH && !hasMobile && !hasSubscriber:
		f.Add("subscriber_id", "The subscriber_id is missing. The type dth requires it, or the same id in mobile.")
	case r.Type == schema.DTH:
		r.Number, r.Valid = f.subscriber(mobile, subscriber)
	case !hasMobile && (r.Type == schema.Prepaid || !hasSubscriber):
		f.required("mobile", nil)
	case r.Type == schema.Prepaid && hasSubscriber:
		f.AddAs(schema.ConflictingParameters, "subscriber_id", "A subscriber_id requires the type dth. Send mobile with the type prepaid.")
	default:
		r.Number = mobile
		if digits, ok := numbering.Mobile(mobile); ok {
			r.Number, r.Valid = digits, true
		}
	}
}

func (f *form) kind(v jsontext.Value) schema.RechargeType {
	switch t := schema.RechargeType(f.text("type", v)); t {
	case schema.Prepaid, schema.DTH:
		return t
	case "": // text has added a fault
	default:
		f.AddAs(schema.UnsupportedType, "type", NoSuchType)
	}
	return ""
}

// NoSuchType is the message for an unknown type of recharge.
const NoSuchType = "The type must be prepaid or dth."

// subscriber returns the id of a DTH subscriber from the field mobile or subscriber_id. An invalid id stays unchanged.
func (f *form) subscriber(mobile, subscriber string) (id string, valid bool) {
	first, ok := numbering.SubscriberID(mobile)
	if !ok {
		first = mobile
	}
	second, valid := numbering.SubscriberID(subscriber)
	switch {
	case subscriber == "":
		return first, ok
	case !valid:
		second = subscriber
	}
	if mobile != "" && first != second {
		f.AddAs(schema.ConflictingParameters, "subscriber_id", "The fields mobile and subscriber_id differ. Send one of them.")
	}
	return second, valid
}

func (f *form) operator(r *Request, v jsontext.Value) {
	if !f.required("operator", v) {
		return
	}
	switch text := f.text("operator", v); {
	case text == "" || r.Type == "": // a fault was added before
	case strings.EqualFold(strings.TrimSpace(text), Auto):
		f.least, f.most = minAmount, maxAmount
	default:
		if found, ok := numbering.Find(r.Type, text); ok {
			r.RequestedOperator, f.least, f.most = found.Name, found.Min, found.Max
			return
		}
		f.AddAs(schema.UnknownOperator, "operator", unknownOperator(r.Type))
	}
}

func unknownOperator(t schema.RechargeType) string {
	var names []string
	for _, o := range numbering.Operators() {
		if o.Type == t {
			names = append(names, o.Name)
		}
	}
	if t == schema.Prepaid {
		names = append(names, Auto)
	}
	last := len(names) - 1
	return fmt.Sprintf("There is no such operator of the type %s. Send %s or %s.", t, strings.Join(names[:last], ", "), names[last])
}

// amount reads the amount exactly, from its decimal digits and not through a float.
func (f *form) amount(r *Request, v jsontext.Value) {
	const field = "amount"
	if !f.required(field, v) {
		return
	}
	if v.Kind() != jsontext.KindNumber {
		f.Add(field, "amount must be a number.")
		return
	}
	paise, err := schema.ParsePaise(string(v))
	switch {
	case err == nil && paise > 0 && paise <= exactAmount:
		r.Amount = paise
	case errors.Is(err, schema.ErrAmountPrecision):
		f.AddAs(schema.InvalidAmount, field, "The amount can have at most two decimals.")
		return
	case err == nil && paise <= 0:
		f.AddAs(schema.InvalidAmount, field, "The amount must be more than 0.")
		return
	default:
		f.AddAs(schema.InvalidAmount, field, "The amount is out of range.")
		return
	}
	if f.most > 0 && (paise < f.least || paise > f.most) {
		who := r.RequestedOperator
		if who == "" {
			who = "a recharge"
		}
		f.AddAs(schema.AmountNotSupported, field, fmt.Sprintf("The amount for %s must be between %s and %s.", who, f.least.Rupees(), f.most.Rupees()))
	}
}

const requestedReason = "The client requested the refund."

// Reason reads the reason of a refund from the body, which is optional.
func Reason(c *httpapi.Call) (string, error) {
	from, err := httpapi.DecodeOptional[struct {
		Reason jsontext.Value `json:"reason"`
	}](c)
	if err != nil {
		return "", err
	}
	if !httpapi.HasValue(from.Reason) {
		return requestedReason, nil
	}
	var f form
	text, ok := httpapi.Text(&f.RequestErrors, "reason", from.Reason)
	if ok && !schema.IsRef(text) {
		f.Add("reason", "The reason must have 1 to 255 characters and no control characters.")
	}
	return text, f.ProblemByStatus()
}

// OperatorAndCircle reads the parameters of GET /v1/plans.
func OperatorAndCircle(params map[string]string) (operator, circle string, err error) {
	var f form
	text, given := params["operator"]
	switch {
	case !given:
		f.Add("operator", "The parameter operator is missing.")
	default:
		found, ok := numbering.Find(schema.Prepaid, text)
		if !ok {
			found, ok = numbering.Find(schema.DTH, text)
		}
		if operator = found.Name; !ok {
			f.AddAs(schema.UnknownOperator, "operator", "Unknown operator. GET /v1/operators lists the operators.")
		}
	}
	if text, given = params["circle"]; given {
		var ok bool
		if circle, ok = numbering.Circle(text); !ok {
			f.Add("circle", "Unknown circle. The circles are "+strings.Join(numbering.Circles(), ", ")+".")
		}
	}
	return operator, circle, f.ProblemByStatus()
}
