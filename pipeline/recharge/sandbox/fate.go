package sandbox

import (
	"hash/fnv"
	"strings"
	"time"

	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

// behaviour is the simulated result of an order.
type behaviour int

// The behaviours. The last digit of a magic number, from 1 to 9, is the value of its behaviour.
const (
	succeeds      behaviour = iota + 1 // immediate success
	succeedsLate                       // pending, success after 5 s
	failsLate                          // pending, operator_network_error after 5 s
	wrongNumber                        // invalid_number
	noBalance                          // insufficient_balance from the operator, though the wallet had enough
	isReversed                         // success, reversed after 5 s
	staysPending                       // pending for ever
	ported                             // NotSubscriber unless the order is for the operator that Detect returns
	succeedsTwice                      // success, and again after 1 s
	fails                              // immediate operator_network_error
)

// Delays of answers since the creation of the order.
const (
	outcomeDelay = 5 * time.Second
	repeatDelay  = time.Second
)

// magicPrefix is the prefix of magic mobile numbers, which have a fixed behaviour. One digit from 1
// to 9 follows the prefix.
const magicPrefix = "900000000"

// behaviourOf returns the behaviour for the number of an order. The last digit of a magic mobile
// number selects the behaviour. So do the last two digits of a DTH id, if they are 01 to 09. For
// other numbers a hash selects it: of 100, 94 succeed immediately, 4 succeed late and 2 fail.
func behaviourOf(o order.Order) behaviour {
	if n := magicDigit(o.Type, o.Number); n != 0 {
		return behaviour(n)
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

// magicDigit returns the digit that selects the behaviour; 0 if the number is not magic.
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

// hash distributes numbers evenly over the values of uint32.
func hash(number string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(number)) // it never fails
	return h.Sum32()
}

// callKind distinguishes submit calls from enquiries.
type callKind bool

const (
	submitCall  callKind = false // submits the order
	enquiryCall callKind = true  // reads the state of the order
)

// answer returns the answer to a call about an order of the given age. A submit call is never
// answered with reversed, because the order must succeed first. theirs means that the number
// belongs to the order's operator.
func (f behaviour) answer(call callKind, age time.Duration, theirs bool) order.Answer {
	left := outcomeDelay - age
	switch f {
	case succeedsLate, failsLate:
		switch {
		case left > 0:
			return order.Answer{Outcome: order.Pending, RetryAfter: left}
		case f == failsLate:
			return failed(schema.OperatorNetworkError)
		}
	case wrongNumber:
		return failed(schema.InvalidNumber)
	case noBalance:
		return failed(schema.InsufficientBalance)
	case isReversed:
		if call == enquiryCall && left <= 0 {
			return order.Answer{Outcome: order.Reversed}
		}
		return order.Answer{Outcome: order.Succeeded, RetryAfter: max(left, time.Millisecond)}
	case staysPending:
		return order.Answer{Outcome: order.Pending}
	case ported:
		if !theirs {
			return order.Answer{Outcome: order.NotSubscriber}
		}
	case succeedsTwice:
		if again := repeatDelay - age; call == submitCall || again > 0 {
			return order.Answer{Outcome: order.Succeeded, RetryAfter: max(again, time.Millisecond)}
		}
	case fails:
		return failed(schema.OperatorNetworkError)
	case succeeds:
	}
	return order.Answer{Outcome: order.Succeeded}
}

func failed(code schema.Code) order.Answer {
	return order.Answer{Outcome: order.Failed, Code: code}
}
