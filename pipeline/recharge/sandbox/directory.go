package sandbox

import (
	"context"

	"vayu/pipeline/recharge/numbering"
	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

// directory looks up numbers and plans. It has an operator for every valid number.
type directory struct{}

// Detect returns the operator and circle of a number. Magic mobile numbers (see magicPrefix) belong to Airtel in Delhi,
// except the one that ends in the digit `ported`, which belongs to Jio in Delhi. Other mobile numbers belong to the
// operator of their series. For an unassigned series or a DTH id, a hash chooses the operator. For an invalid number,
// Detect returns a zero Subscriber. The error is ctx.Err().
func (directory) Detect(ctx context.Context, number string) (order.Subscriber, error) {
	if _, ok := numbering.Mobile(number); ok {
		return subscriberOf(schema.Prepaid, number), ctx.Err()
	}
	if _, ok := numbering.SubscriberID(number); ok {
		return subscriberOf(schema.DTH, number), ctx.Err()
	}
	return order.Subscriber{}, ctx.Err()
}

func subscriberOf(t schema.RechargeType, number string) order.Subscriber {
	if t == schema.DTH {
		return order.Subscriber{Operator: operatorByHash(t, number)}
	}
	switch magicDigit(t, number) {
	case 0:
	case ported:
		return order.Subscriber{Operator: "Jio", Circle: "Delhi"}
	default:
		return order.Subscriber{Operator: "Airtel", Circle: "Delhi"}
	}
	operator, circle, ok := numbering.Series(number)
	if !ok {
		operator = operatorByHash(t, number)
	}
	if circle == "" {
		circles := numbering.Circles()
		circle = circles[hash(number)%uint32(len(circles))]
	}
	return order.Subscriber{Operator: operator, Circle: circle}
}

func operatorByHash(t schema.RechargeType, number string) string {
	var names []string
	for _, o := range numbering.Operators() {
		if o.Type == t {
			names = append(names, o.Name)
		}
	}
	return names[hash(number)%uint32(len(names))]
}

// mobilePlans and dthPlans are invented, but typical.
var (
	mobilePlans = []schema.Plan{
		{Amount: 10_00, Description: "talk time of 7.47 rupees"},
		{Amount: 22_00, Days: 1, Description: "1 GB of data"},
		{Amount: 199_00, Days: 28, Description: "unlimited calls, 2 GB of data"},
		{Amount: 349_00, Days: 28, Description: "unlimited calls, 1.5 GB of data a day"},
		{Amount: 859_00, Days: 84, Description: "unlimited calls, 1.5 GB of data a day"},
		{Amount: 3599_00, Days: 365, Description: "unlimited calls, 2 GB of data a day"},
	}
	dthPlans = []schema.Plan{
		{Amount: 200_00, Description: "top-up"},
		{Amount: 300_00, Days: 30, Description: "channels of one language"},
		{Amount: 450_00, Days: 30, Description: "channels of one language, and sports"},
		{Amount: 1750_00, Days: 180, Description: "channels of one language"},
	}
)

// Plans returns invented plans, which are the same in every circle. It returns none for an unknown operator.
func (directory) Plans(ctx context.Context, operator, _ string) ([]schema.Plan, error) {
	var plans []schema.Plan
	for _, o := range numbering.Operators() {
		if o.Name != operator {
			continue
		}
		offered := mobilePlans
		if o.Type == schema.DTH {
			offered = dthPlans
		}
		for _, p := range offered {
			p.Description = "Sandbox, " + operator + ": " + p.Description
			plans = append(plans, p)
		}
	}
	return plans, ctx.Err()
}
