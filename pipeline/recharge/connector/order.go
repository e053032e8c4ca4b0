package connector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// errOperator means that the file has no code for the operator or type of an order.
var errOperator = errors.New("the file has no code for this operator")

// Submit sends an order. It implements order.Operator.
func (p *provider) Submit(ctx context.Context, o order.Order) (order.Answer, error) {
	return p.call(ctx, submit, o)
}

// Enquire requests the state of an order. It implements order.Operator.
func (p *provider) Enquire(ctx context.Context, o order.Order) (order.Answer, error) {
	return p.call(ctx, enquire, o)
}

// Reverse requests a refund. The outcome Failed means that the provider refused the refund. Reverse implements
// order.Reverser.
func (p *provider) Reverse(ctx context.Context, o order.Order) (order.Answer, error) {
	return p.call(ctx, refund, o)
}

func (p *provider) call(ctx context.Context, call string, o order.Order) (order.Answer, error) {
	fields, err := p.fields(o)
	if err != nil {
		return order.Answer{}, fmt.Errorf("%w: %w", httpconnector.ErrNotSent, err)
	}
	reply, err := p.client.Call(ctx, call, fields)
	if err != nil {
		return order.Answer{}, err
	}
	if err := reply.CheckEcho(ourName, o.Reference); err != nil {
		return order.Answer{}, fmt.Errorf("calling %q: %w", call, err)
	}
	return p.answer(reply.Fields), nil
}

// fields returns the values of orderFields. The circle is "" if the order has none, or if the file has no code for
// it.
func (p *provider) fields(o order.Order) (map[string]any, error) {
	operator, ok := p.operators.code(o.Operator)
	if !ok {
		return nil, errOperator
	}
	kind, ok := p.types.code(string(o.Type))
	if !ok {
		return nil, errOperator
	}
	circle, _ := p.circles.code(o.Circle)
	return map[string]any{
		"reference": o.Reference, "provider_ref": o.ProviderRef, "type": kind, "number": o.Number, "operator": operator, "circle": circle,
		"amount": o.Amount, "paise": int64(o.Amount), "created": schema.FormatTime(o.CreatedAt),
	}, nil
}

// answer converts the fields of a provider's reply. The field status already has one of the keys of `outcomes`.
func (p *provider) answer(fields map[string]string) order.Answer {
	a := order.Answer{Outcome: outcomes[fields["status"]], ProviderRef: httpconnector.CleanReference(fields["provider_ref"])}
	if circle := fields["circle"]; circle != "" {
		a.Circle = p.circle(circle)
	}
	if a.Outcome == order.Failed {
		if a.Code = schema.Code(fields["code"]); a.Code == "" {
			a.Code = schema.OperatorNetworkError
		}
	}
	return a
}

// Receive verifies and decodes a callback. It implements transaction.Receiver.
func (p *provider) Receive(header http.Header, body []byte, now time.Time) (transaction.Message[order.Answer], error) {
	reply, err := p.client.Receive(header, body, now)
	if err != nil {
		return transaction.Message[order.Answer]{}, httpconnector.CallbackProblem(err)
	}
	return transaction.Message[order.Answer]{Reference: reply.Fields["reference"], Answer: p.answer(reply.Fields)}, nil
}

// directory looks up numbers, plans or both at a provider.
type directory struct {
	*provider

	numbers, plans bool
}

var (
	errNoPlans = errors.New("the provider has no lookup of plans")
	errWhose   = errors.New("the answer names an operator that the file does not map")
)

// Detect looks up the operator of a number. It implements order.Directory.
func (d directory) Detect(ctx context.Context, number string) (order.Subscriber, error) {
	if !d.numbers {
		return order.Subscriber{}, order.ErrNoDetection
	}
	reply, err := d.client.Call(ctx, detect, map[string]any{"number": number})
	if err != nil {
		return order.Subscriber{}, err
	}
	if reply.Fields["status"] == "unknown" {
		return order.Subscriber{}, nil
	}
	operator, ok := d.operator(reply.Fields["operator"])
	if !ok {
		return order.Subscriber{}, errWhose
	}
	return order.Subscriber{Operator: operator, Circle: d.circle(reply.Fields["circle"])}, nil
}

// maxPlanText is the limit of a plan's description, in characters. A longer description is cut.
const maxPlanText = 300

// Plans fetches the plans of an operator in a circle. It fails if a plan has no valid amount. It
// implements order.Directory.
func (d directory) Plans(ctx context.Context, operator, circle string) ([]schema.Plan, error) {
	if !d.plans {
		return nil, errNoPlans
	}
	theirs, ok := d.operators.code(operator)
	if !ok {
		return nil, errOperator
	}
	place, _ := d.circles.code(circle)
	reply, err := d.client.Call(ctx, plans, map[string]any{"operator": theirs, "circle": place})
	if err != nil {
		return nil, err
	}
	all := make([]schema.Plan, 0, len(reply.Items))
	for _, item := range reply.Items {
		amount, err := schema.ParsePaise(item["amount"])
		if err != nil || amount <= 0 {
			return nil, fmt.Errorf("calling %q: the amount of a plan is invalid", plans)
		}
		days, err := strconv.Atoi(item["days"])
		if err != nil || days < 0 {
			days = 0
		}
		all = append(all, schema.Plan{Amount: amount, Days: days, Description: httpconnector.CleanText(item["description"], maxPlanText)})
	}
	return all, nil
}
