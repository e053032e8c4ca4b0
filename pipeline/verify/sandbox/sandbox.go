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
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// Name identifies the sandbox in the store and in metrics.
const Name = "sandbox"

// These are the settings of the connection.
const (
	timeout     = 30 * time.Second // the slowest penny drops take 30 s; in the scenario isSlow, 25 s
	resendAfter = timeout          // without a margin, because no request is delayed on its way
	concurrency = 2000             // a waiting call costs only a goroutine and a timer
)

// Connection returns the connection to the fake bank, for both methods of verification (bank account and UPI address).
// If `now` is nil, the fake bank uses time.Now.
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

// Deposit answers as the account's scenario defines, after its delay. It is idempotent.
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

// Resolve returns the holder of a UPI address.
func (b fakeBank) Resolve(ctx context.Context, o bank.Order) (bank.Answer, error) {
	return b.firstAnswer(ctx, o, scenarioOfAddress(o.VPA))
}

func (b fakeBank) age(o bank.Order) time.Duration { return b.now().Sub(o.CreatedAt) }

// firstAnswer answers a deposit or a lookup. In the scenario isTimeout, it blocks every call of an order that is
// younger than the constant `timeout`. It answers later calls, because by then the first call has ended.
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

// scenario is the prepared result for an account or address.
type scenario int

// These are the scenarios. The number of a scenario is the last four digits of its magic account numbers.
const (
	isExact scenario = iota + 1
	isPartial
	isOther
	isDormant
	isFrozen
	isClosed
	isMissing
	isSuspicious
	isTimeout // no answer to deposits and lookups in the first 30 s
	isSlow    // the answer comes 25 s after the order's creation
)

// magicAddresses are the UPI addresses with a fixed scenario.
var magicAddresses = map[string]scenario{
	"success@upi": isExact, "failure@upi": isMissing, "partial@upi": isPartial,
	"dormant@upi": isDormant, "suspicious@upi": isSuspicious, "timeout@upi": isTimeout,
}

func scenarioOfAddress(vpa string) scenario {
	if f, ok := magicAddresses[vpa]; ok {
		return f
	}
	return hashedScenario(vpa)
}

func scenarioOfAccount(number, ifsc string) scenario {
	if n, err := strconv.Atoi(number[max(0, len(number)-4):]); err == nil && n >= int(isExact) && n <= int(isSlow) {
		return scenario(n)
	}
	return hashedScenario(number + ifsc)
}

// hashedScenario returns the scenario of an account or address that has no fixed scenario.
func hashedScenario(target string) scenario {
	switch share := hash(target) % 100; {
	case share < 90:
		return isExact
	case share < 93:
		return isPartial
	case share < 95:
		return isOther
	case share < 97:
		return isDormant
	case share < 98:
		return isSuspicious
	default:
		return isMissing
	}
}

// hash maps texts to evenly distributed numbers.
func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	sum := h.Sum64()
	return sum ^ sum>>32 // FNV mixes the last characters too little into the low bits
}

// statuses are the account statuses in the scenarios with an inactive account.
var statuses = map[scenario]schema.AccountStatus{
	isDormant: schema.AccountDormant, isFrozen: schema.AccountFrozen, isClosed: schema.AccountClosed,
}

func (f scenario) answer(o bank.Order) bank.Answer {
	a := bank.Answer{Outcome: bank.NotFound, ProviderRef: Name + "-" + o.Reference}
	if f == isMissing {
		return a
	}
	a.Outcome = bank.Found
	a.Account = bank.Account{Name: f.name(o), Status: schema.AccountActive}
	if s, ok := statuses[f]; ok {
		a.Account.Status = s
	}
	if f == isSuspicious {
		a.Account.Reasons = []string{bank.UnusualActivity}
	}
	if o.Method == schema.VerifyPennyDrop {
		a.UTR = fmt.Sprintf("%012d", hash(o.Reference)%1e12)
		a.Account.Branch = branches[hash(o.IFSC)%uint64(len(branches))]
	}
	return a
}

// branches are invented branch names.
var branches = []string{
	"Main Branch", "Station Road", "Gandhi Nagar", "Market Yard", "Civil Lines", "Industrial Estate", "University Campus", "Ring Road",
	"Lake View", "Court Road", "Temple Street", "Old Town",
}
