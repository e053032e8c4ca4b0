package sandbox

import (
	"hash/fnv"
	"strings"
	"time"

	"vayu/pipeline/recharge"
	"vayu/schema"
)

// fate is what becomes of an order.
type fate int

// The fates. The first nine are the last digit of the magic numbers (CONTRACT 7).
const (
	succeeds      fate = iota + 1 // at once
	succeedsLate                  // pending, success 5 s after it was made
	failsLate                     // pending, operator_network_error after 5 s
	wrongNumber                   // invalid_number
	noBalance                     // insufficient_balance: the operator's own, of the prepaid account
	isReversed                    // success, taken back after 5 s
	staysPending                  // for ever
	ported                        // NotSubscriber unless the operator is who the directory says
	succeedsTwice                 // success, and said again after 1 s
	fails                         // operator_network_error at once
)

// The delays of CONTRACT 7, from when the order was made.
const (
	delay = 5 * time.Second
	twice = time.Second
)

// magic is what the magic mobile numbers begin with; one digit from 1 to 9 follows.
const magic = "900000000"

// fateOf is by the digit of a magic mobile number, and for DTH by the last two digits
// of the id, 01 to 09. For every other number it is by a hash of the number: of a
// hundred, 94 succeed at once, 4 succeed late and 2 fail.
func fateOf(o recharge.Order) fate {
	if n := magicDigit(o.Type, o.Number); n != 0 {
		return fate(n)
	}
	switch share := hash(o.Number) % 100; {
	case share < 94:
		return succeeds
	case share < 98:
		return succeedsLate
	default:
		return fails
	}
}

// magicDigit is 0 for a number that is not magic.
func magicDigit(t schema.RechargeType, number string) int {
	begin := magic
	if t == schema.DTH {
		begin = number[:max(len(number)-2, 0)] + "0"
	}
	rest, ok := strings.CutPrefix(number, begin)
	if !ok || len(rest) != 1 || rest[0] < '1' || rest[0] > '9' {
		return 0
	}
	return int(rest[0] - '0')
}

// hash spreads numbers evenly.
func hash(number string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(number)) // it never fails
	return h.Sum32()
}

// occasion is when a provider is asked.
type occasion bool

const (
	first occasion = false // the order is submitted
	later occasion = true  // it is enquired about
)

// answer is what is said of an order of an age. What a submitted order is told never
// says that it was reversed: it had to succeed first.
func (f fate) answer(asked occasion, age time.Duration, theirs bool) recharge.Answer {
	left := delay - age
	switch f {
	case succeedsLate, failsLate:
		switch {
		case left > 0:
			return recharge.Answer{Outcome: recharge.Pending, Again: left}
		case f == failsLate:
			return failed(schema.OperatorNetworkError)
		}
	case wrongNumber:
		return failed(schema.InvalidNumber)
	case noBalance:
		return failed(schema.InsufficientBalance)
	case isReversed:
		if asked == later && left <= 0 {
			return recharge.Answer{Outcome: recharge.Reversed}
		}
		return recharge.Answer{Outcome: recharge.Succeeded, Again: max(left, time.Millisecond)}
	case staysPending:
		return recharge.Answer{Outcome: recharge.Pending}
	case ported:
		if !theirs {
			return recharge.Answer{Outcome: recharge.NotSubscriber}
		}
	case succeedsTwice:
		if again := twice - age; asked == first || again > 0 {
			return recharge.Answer{Outcome: recharge.Succeeded, Again: max(again, time.Millisecond)}
		}
	case fails:
		return failed(schema.OperatorNetworkError)
	case succeeds:
	}
	return recharge.Answer{Outcome: recharge.Succeeded}
}

func failed(code schema.Code) recharge.Answer {
	return recharge.Answer{Outcome: recharge.Failed, Code: code}
}
