// Package sandbox is the recharge provider of the sandbox, the world of mock transactions. It
// simulates recharges and calls no operator. It is stateless: an answer depends only on the fields
// of the recharge and on the time. So answers are the same after a restart and in every instance.
package sandbox

import (
	"context"
	"time"

	"vayu/pipeline/recharge/order"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Name is the name of the sandbox in the store and in metrics.
const Name = "sandbox"

const (
	// timeout is never reached, because calls do no I/O.
	timeout = 5 * time.Second
	// resendAfter is short, because no order can arrive late.
	resendAfter = time.Second
	// concurrency is high, because calls need little memory and time.
	concurrency = 1024
)

// Connection returns the sandbox as a connection. It recharges prepaid mobiles and DTH of all operators, and refunds on
// request. It has a directory of numbers and plans. If `now` is nil, the sandbox uses time.Now.
func Connection(now func() time.Time) order.Connection {
	if now == nil {
		now = time.Now
	}
	p := provider{now: now}
	return order.Connection{
		Link:      transaction.Link{Name: Name, World: schema.Sandbox, Timeout: timeout, ResendAfter: resendAfter, Concurrency: concurrency},
		Operator:  p,
		Reverser:  p,
		Directory: directory{},
	}
}

type provider struct{ now func() time.Time }

// Submit returns the current answer for an order. It stores nothing, so it is idempotent.
func (p provider) Submit(ctx context.Context, o order.Order) (order.Answer, error) {
	return p.answer(ctx, o, false)
}

// Enquire returns the state of an order, even of one that was never sent.
func (p provider) Enquire(ctx context.Context, o order.Order) (order.Answer, error) {
	return p.answer(ctx, o, true)
}

// Reverse reverses an order whose outcome is success, and no other. The sandbox is stateless, so a
// later enquiry returns success again.
func (p provider) Reverse(ctx context.Context, o order.Order) (order.Answer, error) {
	a, err := p.answer(ctx, o, true)
	if err == nil && a.Outcome == order.Succeeded {
		a.Outcome, a.RetryAfter = order.Reversed, 0
	}
	return a, err
}

func (p provider) answer(ctx context.Context, o order.Order, enquiry bool) (order.Answer, error) {
	if err := ctx.Err(); err != nil {
		return order.Answer{}, err
	}
	whose := subscriberOf(o.Type, o.Number)
	a := behaviourOf(o).answer(enquiry, p.now().Sub(o.CreatedAt))
	if magicDigit(o.Type, o.Number) == ported && o.Operator != whose.Operator {
		a = order.Answer{Outcome: order.NotSubscriber}
	}
	a.ProviderRef = Name + "-" + o.Reference
	a.Circle = whose.Circle
	return a, nil
}
