package sandbox

import (
	"context"

	"vayu/pipeline/recharge"
	"vayu/pipeline/recharge/numbering"
	"vayu/schema"
)

// directory knows everybody's numbers.
type directory struct{}

// Detect returns whose a number is. The magic mobile numbers are Airtel's in Delhi,
// but the one that was ported, which is Jio's and in a series of Airtel's. Others
// are whose the series is, or anybody's by a hash of the number. It returns a zero
// Subscriber only for what is neither a mobile number nor the id of a DTH
// subscriber.
func (directory) Detect(ctx context.Context, number string) (recharge.Subscriber, error) {
	if _, ok := numbering.Mobile(number); ok {
		return holder(schema.Prepaid, number), ctx.Err()
	}
	if _, ok := numbering.SubscriberID(number); ok {
		return holder(schema.DTH, number), ctx.Err()
	}
	return recharge.Subscriber{}, ctx.Err()
}

func holder(t schema.RechargeType, number string) recharge.Subscriber {
	if t == schema.DTH {
		return recharge.Subscriber{Operator: anybody(t, number)}
	}
	switch fate(magicDigit(t, number)) {
	case 0:
	case ported:
		return recharge.Subscriber{Operator: "Jio", Circle: "Delhi"}
	default:
		return recharge.Subscriber{Operator: "Airtel", Circle: "Delhi"}
	}
	operator, circle, ok := numbering.Series(number)
	if !ok {
		operator = anybody(t, number)
	}
	if circle == "" {
		circles := numbering.Circles()
		circle = circles[hash(number)%uint32(len(circles))]
	}
	return recharge.Subscriber{Operator: operator, Circle: circle}
}

// anybody is one of the operators of a type, by a hash of the number.
func anybody(t schema.RechargeType, number string) string {
	var names []string
	for _, o := range numbering.Operators() {
		if o.Type == t {
			names = append(names, o.Name)
		}
	}
	return names[hash(number)%uint32(len(names))]
}

// mobilePlans and dthPlans are made up; they look like what operators offer.
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

// Plans returns a made-up list, the same in every circle; none for an operator that
// there is not.
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
