// Package sandbox is the bank of the sandbox: it makes no deposit and knows everybody.
// What it says follows from the order and the time alone. It keeps nothing, so that it
// says the same after a restart and in every instance.
//
// Account numbers that end in these four digits, and these addresses, are magic:
//
//	0001 success@upi     the name that is expected
//	0002 partial@upi     one that is partly like it
//	0003                 one that is not like it
//	0004 dormant@upi     dormant, with the name that is expected
//	0005                 frozen, the same
//	0006                 closed, the same
//	0007 failure@upi     there is none
//	0008 suspicious@upi  the name that is expected, and flagged
//	0009 timeout@upi     the first call is not answered; what is asked afterwards is
//	0010                 the name that is expected, 25 s after the order was made
//
// Of a hundred others, by a hash of what is asked about, 90 have the name that is
// expected, 3 a similar and 2 another one, 2 are dormant, 1 is flagged and 2 do not
// exist. Where no name is expected it is one of a list, by the same hash.
package sandbox

import (
	"context"
	"time"

	"vayu/pipeline/verify"
	"vayu/schema"
)

// Name is the sandbox in the store and in metrics.
const Name = "sandbox"

// Policy of the connection. A penny drop is answered within 30 s (spec 7), and one of
// 25 s must be. Nothing is ever on its way but what is waited for. A call that waits
// costs a goroutine and a timer: 2,000 at once are some megabytes, and a thousand slow
// ones leave room for others.
const (
	timeout     = 30 * time.Second
	resendAfter = timeout
	concurrency = 2000
)

// Connection is the sandbox as a connection, for both methods. A nil now is time.Now.
func Connection(now func() time.Time) verify.Connection {
	if now == nil {
		now = time.Now
	}
	return verify.Connection{
		Name:        Name,
		World:       schema.Sandbox,
		Timeout:     timeout,
		ResendAfter: resendAfter,
		Concurrency: concurrency,
		Bank:        bank{now},
	}
}

type bank struct{ now func() time.Time }

// slowness is how long after an order was made it is answered when it is slow.
const slowness = 25 * time.Second

// Deposit waits as long as the account has it wait, and answers. An order that is asked
// for again is the same order.
func (b bank) Deposit(ctx context.Context, o verify.Order) (verify.Answer, error) {
	return b.firstAnswer(ctx, o, scenarioOfAccount(o.Account, o.IFSC))
}

// Enquire says what has become of an order. It knows every order, also one that it was
// never asked for.
func (b bank) Enquire(ctx context.Context, o verify.Order) (verify.Answer, error) {
	f := scenarioOfAccount(o.Account, o.IFSC)
	if left := slowness - b.age(o); f == isSlow && left > 0 && ctx.Err() == nil {
		return verify.Answer{Outcome: verify.Pending, ProviderRef: Name + "-" + o.Reference, Again: left}, nil
	}
	return f.answer(o), ctx.Err()
}

// Resolve says whose an address is.
func (b bank) Resolve(ctx context.Context, o verify.Order) (verify.Answer, error) {
	return b.firstAnswer(ctx, o, scenarioOfAddress(o.VPA))
}

func (b bank) age(o verify.Order) time.Duration { return b.now().Sub(o.CreatedAt) }

// firstAnswer is what is said when an order comes. Who is silent is so for as long as a call
// may take: an order that is older was asked for before.
func (b bank) firstAnswer(ctx context.Context, o verify.Order, f scenario) (verify.Answer, error) {
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
		return verify.Answer{}, err
	}
	return f.answer(o), nil
}
