// Package sandbox is the fake bank of the sandbox world. It makes no deposit and has an answer for
// every account. Answers depend on the order and the time alone. The bank is stateless, so restarts
// and other instances give the same answers.
//
// Account numbers that end in these four digits, and these addresses, have a fixed answer:
//
//	0001 success@upi     the expected name
//	0002 partial@upi     a partly matching name
//	0003                 another name
//	0004 dormant@upi     dormant, with the expected name
//	0005                 frozen, with the expected name
//	0006                 closed, with the expected name
//	0007 failure@upi     missing
//	0008 suspicious@upi  the expected name, flagged
//	0009 timeout@upi     no answer to deposits and lookups until 30 s after the order's creation
//	0010                 the expected name, 25 s after the order's creation
//
// A hash selects the answer for any other account or address. Of 100 such targets, 90 have the
// expected name, 3 a similar name and 2 another name. 2 are dormant, 1 is flagged and 2 are
// missing. If no name is expected, the hash selects a name from a list.
package sandbox

import (
	"context"
	"time"

	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// Name identifies the sandbox in the store and in metrics.
const Name = "sandbox"

// Settings of the connection.
const (
	timeout     = 30 * time.Second // a penny drop is answered within 30 s (spec 7); isSlow takes 25 s
	resendAfter = timeout          // without a margin, because no request is delayed on its way
	concurrency = 2000             // a waiting call costs only a goroutine and a timer
)

// Connection returns the connection of the sandbox, for both methods. If now is nil, the sandbox
// uses time.Now.
func Connection(now func() time.Time) bank.Connection {
	if now == nil {
		now = time.Now
	}
	return bank.Connection{
		Link: transaction.Link{Name: Name, World: schema.Sandbox, Timeout: timeout, ResendAfter: resendAfter, Concurrency: concurrency},
		Bank: fakeBank{now},
	}
}

type fakeBank struct{ now func() time.Time }

// slowness is the time from the creation of an order to its answer in the scenario isSlow.
const slowness = 25 * time.Second

// Deposit answers after the delay of the account's scenario. It is idempotent.
func (b fakeBank) Deposit(ctx context.Context, o bank.Order) (bank.Answer, error) {
	return b.firstAnswer(ctx, o, scenarioOfAccount(o.Account, o.IFSC))
}

// Enquire returns the state of an order. Every order exists, even one that was never sent.
func (b fakeBank) Enquire(ctx context.Context, o bank.Order) (bank.Answer, error) {
	f := scenarioOfAccount(o.Account, o.IFSC)
	if left := slowness - b.age(o); f == isSlow && left > 0 && ctx.Err() == nil {
		return bank.Answer{Outcome: bank.Pending, ProviderRef: Name + "-" + o.Reference, RetryAfter: left}, nil
	}
	return f.answer(o), ctx.Err()
}

// Resolve returns the holder of an address.
func (b fakeBank) Resolve(ctx context.Context, o bank.Order) (bank.Answer, error) {
	return b.firstAnswer(ctx, o, scenarioOfAddress(o.VPA))
}

func (b fakeBank) age(o bank.Order) time.Duration { return b.now().Sub(o.CreatedAt) }

// firstAnswer answers a deposit or a lookup. In the scenario isTimeout, it blocks every call of an
// order that is younger than timeout. Later calls get an answer, because the first call has then
// ended.
func (b fakeBank) firstAnswer(ctx context.Context, o bank.Order, f scenario) (bank.Answer, error) {
	switch age := b.age(o); {
	case f == isTimeout && age < timeout:
		<-ctx.Done()
	case f == isSlow && age < slowness:
		answered := time.NewTimer(slowness - age)
		defer answered.Stop()
		select {
		case <-ctx.Done():
		case <-answered.C:
		}
	}
	if err := ctx.Err(); err != nil {
		return bank.Answer{}, err
	}
	return f.answer(o), nil
}
