package recharge_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"vayu/pipeline/recharge"
	"vayu/schema"
)

// manner is how a house takes an order that is submitted.
type manner string

const (
	answers manner = "answers" // it arrives, and its outcome is the answer
	pends   manner = "pends"   // it arrives, and is pending
	slow    manner = "slow"    // it arrives, and the answer takes some seconds
	silent  manner = "silent"  // it arrives, and the call ends without an answer
	hangs   manner = "hangs"   // it arrives, and the call does not end by itself
	late    manner = "late"    // it arrives long after the call has ended
	lost    manner = "lost"    // it does not arrive, and the call ends without an answer
	puzzled manner = "puzzled" // it does not arrive, and the answer is that it is unknown
	unsent  manner = "unsent"  // no connection came about
)

// Of a house. What is late comes after the first enquiry, and before an order that is
// not known may be sent again.
const (
	timeout     = 5 * time.Second
	unhurried   = 3 * time.Second
	onItsWay    = 20 * time.Second
	resendAfter = 30 * time.Second
)

// script is what a house does with the orders for one number.
type script struct {
	// Submits are the manners of one submission after the other of an order; the
	// last is that of all that follow.
	Submits []manner
	Good    bool // it is carried out once it has arrived; else it fails
	Looks   int  // enquiries that are told pending, when it is not decided at once
	Deaf    int  // enquiries that get no answer, before those
	Ported  bool // the number is Jio's, and who is asked first does not know
	Taken   bool // what was carried out is taken back once somebody has been told
	Grants  bool // a refund that is asked for is granted
}

// never is more enquiries than any test makes.
const never = 1 << 30

// order is what a house really did with a reference.
type order struct {
	number    string
	submitted int
	enquired  int
	reversals int
	onItsWay  bool // and may arrive
	arrived   bool
	outcome   recharge.Outcome // once it has arrived
	effects   int              // how often the subscriber got it
	known     bool             // somebody was told that he has
}

// house is a provider of one's own making: it does what the scripts say, and keeps
// what really happened.
type house struct {
	name string

	mu      sync.Mutex
	scripts map[string]*script // by number
	orders  map[string]*order  // by reference
	moved   map[string]bool    // numbers that the directory knows to be Jio's
	faults  []string           // what nobody may do to a provider
}

func newHouse(name string) *house {
	return &house{name: name, scripts: map[string]*script{}, orders: map[string]*order{}, moved: map[string]bool{}}
}

func (h *house) connection() recharge.Connection {
	return recharge.Connection{
		Name: h.name, World: schema.Sandbox, Timeout: timeout, ResendAfter: resendAfter, Concurrency: 4,
		Operator: h, Reverser: h, Directory: h,
	}
}

// expect writes the script of a number.
func (h *house) expect(number string, s *script) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scripts[number] = s
}

var errNoAnswer = errors.New("there was no answer")

// Submit is of recharge.Operator.
func (h *house) Submit(ctx context.Context, o recharge.Order) (recharge.Answer, error) {
	how := h.submitted(o)
	switch how {
	case lost:
		return recharge.Answer{}, errNoAnswer
	case unsent:
		return recharge.Answer{}, fmt.Errorf("connecting: %w", recharge.ErrNotSent)
	case puzzled:
		return recharge.Answer{Outcome: recharge.Unknown}, nil
	case late:
		time.AfterFunc(onItsWay, func() { h.arrive(o, false) })
		return recharge.Answer{}, errNoAnswer
	case silent:
		h.arrive(o, false)
		return recharge.Answer{}, errNoAnswer
	case hangs:
		h.arrive(o, false)
		<-ctx.Done()
		return recharge.Answer{}, ctx.Err()
	case pends:
		return h.arrive(o, false), nil
	case slow:
		h.arrive(o, true)
		select {
		case <-time.After(unhurried):
		case <-ctx.Done():
			return recharge.Answer{}, ctx.Err()
		}
	case answers:
	}
	return h.arrive(o, true), nil
}

// submitted counts a submission.
func (h *house) submitted(o recharge.Order) manner {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.orders[o.Reference]
	if known == nil {
		known = &order{number: o.Number}
		h.orders[o.Reference] = known
	}
	if known.arrived || known.onItsWay {
		h.faults = append(h.faults, o.Reference+" was submitted again after it had arrived, or on its way")
	}
	known.submitted++
	all := h.scripts[o.Number].Submits
	how := all[min(known.submitted, len(all))-1]
	known.onItsWay = how == late
	return how
}

// arrive takes an order, which is decided now or by enquiries, and answers.
func (h *house) arrive(o recharge.Order, now bool) recharge.Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, known := h.scripts[o.Number], h.orders[o.Reference]
	if !known.arrived {
		known.arrived, known.outcome = true, recharge.Pending
		switch {
		case s.Ported && o.Operator != "Jio":
			known.outcome = recharge.NotSubscriber
			h.moved[o.Number] = true
		case now:
			h.decide(known)
		}
	}
	return h.answer(known)
}

// decide brings a pending order to its outcome. The caller holds mu.
func (h *house) decide(known *order) {
	known.outcome = recharge.Failed
	if h.scripts[known.number].Good {
		known.outcome = recharge.Succeeded
		known.effects++
	}
}

// answer is what is said of an order that has arrived. The caller holds mu.
func (h *house) answer(known *order) recharge.Answer {
	a := recharge.Answer{Outcome: known.outcome, ProviderRef: "of " + known.number}
	switch known.outcome {
	case recharge.Failed:
		a.Code = schema.OperatorNetworkError
	case recharge.Reversed:
		a.Reason = "taken back"
	case recharge.Succeeded:
		if h.scripts[known.number].Taken {
			a.Again = unhurried
		}
		known.known = true
	default:
	}
	return a
}

// Enquire is of recharge.Operator.
func (h *house) Enquire(_ context.Context, o recharge.Order) (recharge.Answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, known := h.scripts[o.Number], h.orders[o.Reference]
	if known == nil {
		known = &order{number: o.Number}
		h.orders[o.Reference] = known
	}
	known.enquired++
	switch {
	case known.enquired <= s.Deaf:
		return recharge.Answer{}, errNoAnswer
	case !known.arrived:
		return recharge.Answer{Outcome: recharge.Unknown}, nil
	case known.outcome == recharge.Pending && known.enquired > s.Deaf+s.Looks:
		h.decide(known)
	case known.outcome == recharge.Succeeded && s.Taken && known.known:
		known.outcome = recharge.Reversed
	}
	return h.answer(known), nil
}

// Reverse is of recharge.Reverser. The first time there is no answer.
func (h *house) Reverse(_ context.Context, o recharge.Order) (recharge.Answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.orders[o.Reference]
	if known == nil {
		known = &order{number: o.Number}
		h.orders[o.Reference] = known
	}
	known.reversals++
	switch {
	case known.outcome != recharge.Succeeded && known.outcome != recharge.Reversed:
		h.faults = append(h.faults, o.Reference+" was to be taken back, which was never carried out")
	case !h.scripts[o.Number].Grants && known.outcome == recharge.Succeeded:
		return recharge.Answer{Outcome: recharge.Failed}, nil
	}
	known.outcome = recharge.Reversed
	if known.reversals == 1 {
		return recharge.Answer{}, errNoAnswer
	}
	return h.answer(known), nil
}

// Detect is of recharge.Directory: it hears of a ported number when somebody is
// refused.
func (h *house) Detect(_ context.Context, number string) (recharge.Subscriber, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.moved[number] {
		return recharge.Subscriber{Operator: "Jio", Circle: "Delhi"}, nil
	}
	return recharge.Subscriber{Operator: "Airtel", Circle: "Delhi"}, nil
}

// Plans is of recharge.Directory.
func (h *house) Plans(context.Context, string, string) ([]schema.Plan, error) { return nil, nil }

// tell is what the house has to say of a reference by itself: it decides what is
// pending. It has nothing to say of what has not arrived, or was not its own.
func (h *house) tell(reference string) (recharge.Answer, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.orders[reference]
	if known == nil || !known.arrived || known.outcome == recharge.NotSubscriber {
		return recharge.Answer{}, false
	}
	if known.outcome == recharge.Pending {
		h.decide(known)
	}
	return h.answer(known), true
}

// effects is how often the subscriber of a number got it, and how often it was taken
// back.
func (h *house) effects(number string) (got, reversed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, known := range h.orders {
		if known.number != number {
			continue
		}
		got += known.effects
		if known.outcome == recharge.Reversed {
			reversed++
		}
	}
	return got, reversed
}
