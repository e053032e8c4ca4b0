// Package sandbox is the provider of the sandbox: it carries out every recharge
// without a network, and what it says of one follows from the order and the time
// alone. It keeps nothing, so that it says the same after a restart and in every
// instance.
package sandbox

import (
	"context"
	"time"

	"vayu/pipeline/recharge"
	"vayu/schema"
)

// Name is the sandbox in the store and in metrics.
const Name = "sandbox"

// Policy of the connection. An answer takes no time, so the time-out only bounds
// what is wrong; nothing is ever on its way, so resending need not wait for it; and
// a call costs some arithmetic, so that a thousand at once are no load.
const (
	timeout     = 5 * time.Second
	resendAfter = time.Second
	concurrency = 1024
)

// Connection is the sandbox as a connection: every operator of both types, a
// directory, plans, and refunds on request. A nil now is time.Now.
func Connection(now func() time.Time) recharge.Connection {
	if now == nil {
		now = time.Now
	}
	p := provider{now: now}
	return recharge.Connection{
		Name:        Name,
		World:       schema.Sandbox,
		Timeout:     timeout,
		ResendAfter: resendAfter,
		Concurrency: concurrency,
		Operator:    p,
		Reverser:    p,
		Directory:   directory{},
	}
}

type provider struct{ now func() time.Time }

// Submit carries an order out. One that is submitted again is the same order, and
// gets the answer that it would get now.
func (p provider) Submit(ctx context.Context, o recharge.Order) (recharge.Answer, error) {
	return p.answer(ctx, o, first)
}

// Enquire says what has become of an order. It knows every order, also one that it
// was never sent.
func (p provider) Enquire(ctx context.Context, o recharge.Order) (recharge.Answer, error) {
	return p.answer(ctx, o, later)
}

// Reverse takes back what has succeeded, and leaves everything else as it is. It
// cannot remember: asked what has become of the order afterwards, it says that it
// has succeeded.
func (p provider) Reverse(ctx context.Context, o recharge.Order) (recharge.Answer, error) {
	a, err := p.answer(ctx, o, later)
	if err == nil && a.Outcome == recharge.Succeeded {
		a.Outcome, a.Again = recharge.Reversed, 0
	}
	return a, err
}

func (p provider) answer(ctx context.Context, o recharge.Order, asked occasion) (recharge.Answer, error) {
	if err := ctx.Err(); err != nil {
		return recharge.Answer{}, err
	}
	whose := holder(o.Type, o.Number)
	a := fateOf(o).answer(asked, p.now().Sub(o.CreatedAt), o.Operator == whose.Operator)
	a.ProviderRef = Name + "-" + o.Reference
	a.Circle = whose.Circle
	return a, nil
}
