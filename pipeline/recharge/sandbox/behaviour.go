package sandbox

import (
	"hash/fnv"
	"strings"
	"time"

	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

// behaviour is the simulated result of an order. The answer is `first` until the order has the age `delay`, and then
// `later`. If `delay` is 0, the answer is always `first`.
type behaviour struct {
	first order.Answer
	delay time.Duration
	later order.Answer
}

var (
	success = order.Answer{Outcome: order.Succeeded}
	pending = order.Answer{Outcome: order.Pending}
)

func failed(code schema.Code) order.Answer {
	return order.Answer{Outcome: order.Failed, Code: code}
}

// ported is the digit of the magic number that simulates porting: its operator is not that of its series.
const ported = 8

// magic has the behaviours of magic numbers, by the digit that magicDigit returns.
var magic = [...]behaviour{
	1:      {first: success},
	2:      {pending, 5 * time.Second, success},
	3:      {pending, 5 * time.Second, failed(schema.OperatorNetworkError)},
	4:      {first: failed(schema.InvalidNumber)},
	5:      {first: failed(schema.InsufficientBalance)}, // the balance at the operator is insufficient, not that of the wallet
	6:      {success, 5 * time.Second, order.Answer{Outcome: order.Reversed}},
	7:      {first: pending},
	ported: {first: success}, // if the order is for the operator that Detect returns
	9:      {success, time.Second, success},
}

// magicPrefix is the prefix of magic mobile numbers, whose orders have fixed results. One digit from 1 to 9 follows the
// prefix.
const magicPrefix = "900000000"

// magicDigit returns the digit that selects the behaviour; 0 if the number is not magic. It is the last
// digit of a magic mobile number. A DTH id is magic if it ends in 01 to 09.
func magicDigit(t schema.RechargeType, number string) int {
	begin := magicPrefix
	if t == schema.DTH {
		begin = number[:max(len(number)-2, 0)] + "0"
	}
	rest, ok := strings.CutPrefix(number, begin)
	if !ok || len(rest) != 1 || rest[0] < '1' || rest[0] > '9' {
		return 0
	}
	return int(rest[0] - '0')
}

// behaviourOf returns the behaviour for the number of an order. If the number is not magic, its hash selects
// the behaviour: of 100 such numbers, 94 succeed immediately, 4 succeed late and 2 fail.
func behaviourOf(o order.Order) behaviour {
	if n := magicDigit(o.Type, o.Number); n != 0 {
		return magic[n]
	}
	switch share := hash(o.Number) % 100; {
	case share < 94:
		return magic[1]
	case share < 98:
		return magic[2]
	default:
		return behaviour{first: failed(schema.OperatorNetworkError)}
	}
}

// hash distributes numbers evenly over the values of uint32.
func hash(number string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(number)) // it never fails
	return h.Sum32()
}

// answer returns the answer to a call about an order of the given age. From the age b.delay on, an enquiry gets the
// later answer. A submit call gets the later answer only if the first one is pending. So a success always comes before
// its reversal or repetition, even if the order is submitted late.
func (b behaviour) answer(enquiry bool, age time.Duration) order.Answer {
	left := b.delay - age
	if b.delay > 0 && left <= 0 && (enquiry || b.first.Outcome == order.Pending) {
		return b.later
	}
	a := b.first
	if b.delay > 0 {
		a.RetryAfter = max(left, time.Millisecond)
	}
	return a
}
