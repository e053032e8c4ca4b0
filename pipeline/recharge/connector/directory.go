package connector

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

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
