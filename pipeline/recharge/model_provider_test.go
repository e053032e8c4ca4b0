package recharge_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// behaviour is the reaction to a submitted order.
type behaviour string

const (
	answers behaviour = "answers" // it arrives, and its outcome is the answer
	pends   behaviour = "pends"   // it arrives, and is pending
	slow    behaviour = "slow"    // it arrives, and the answer takes some seconds
	silent  behaviour = "silent"  // it arrives, and the call ends without an answer
	hangs   behaviour = "hangs"   // it arrives, and the call does not end by itself
	late    behaviour = "late"    // it arrives long after the call has ended
	lost    behaviour = "lost"    // it does not arrive, and the call ends without an answer
	puzzled behaviour = "puzzled" // it does not arrive, and the answer is that it is unknown
	unsent  behaviour = "unsent"  // no connection came about
)

// Times of the model provider. A late order arrives after the first enquiry and before a
// resend.
const (
	timeout     = 5 * time.Second
	unhurried   = 3 * time.Second
	onItsWay    = 20 * time.Second
	resendAfter = 30 * time.Second
)

// script is the behaviour for the orders of one number.
type script struct {
	// Submits are the behaviours for the submissions of an order; the last one applies to
	// all that follow.
	Submits []behaviour
	Good    bool // it is carried out once it has arrived; else it fails
	Looks   int  // enquiries that are answered with pending, unless it is decided at once
	Deaf    int  // enquiries without an answer, before those
	Ported  bool // the number is Jio's, and the first operator does not know that
	Taken   bool // a success is reversed after it was reported
	Grants  bool // a requested refund is granted
}

// never is more enquiries than any test makes.
const never = 1 << 30

// modelOrder is the actual state of an order.
type modelOrder struct {
	number    string
	submitted int
	enquired  int
	reversals int
	onItsWay  bool // and may arrive
	arrived   bool
	outcome   order.Outcome // once it has arrived
	effects   int           // how often the subscriber got it
	known     bool          // the success was reported
}

// modelProvider is a provider that follows scripts and records what actually happened.
type modelProvider struct {
	name string

	mu      sync.Mutex
	scripts map[string]*script     // by number
	orders  map[string]*modelOrder // by reference
	moved   map[string]bool        // numbers that the directory lists as Jio's
	faults  []string               // violations of the provider contract
}

func newModelProvider(name string) *modelProvider {
	return &modelProvider{name: name, scripts: map[string]*script{}, orders: map[string]*modelOrder{}, moved: map[string]bool{}}
}

func (h *modelProvider) connection() order.Connection {
	return order.Connection{
		Link:     transaction.Link{Name: h.name, World: schema.Sandbox, Timeout: timeout, ResendAfter: resendAfter, Concurrency: 4},
		Operator: h, Reverser: h, Directory: h,
	}
}

// setScript sets the script of a number.
func (h *modelProvider) setScript(number string, s *script) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scripts[number] = s
}

var errNoAnswer = errors.New("there was no answer")

// Submit implements order.Operator.
func (h *modelProvider) Submit(ctx context.Context, o order.Order) (order.Answer, error) {
	how := h.submitted(o)
	switch how {
	case lost:
		return order.Answer{}, errNoAnswer
	case unsent:
		return order.Answer{}, fmt.Errorf("connecting: %w", httpconnector.ErrNotSent)
	case puzzled:
		return order.Answer{Outcome: order.Unknown}, nil
	case late:
		time.AfterFunc(onItsWay, func() { h.arrive(o, false) })
		return order.Answer{}, errNoAnswer
	case silent:
		h.arrive(o, false)
		return order.Answer{}, errNoAnswer
	case hangs:
		h.arrive(o, false)
		<-ctx.Done()
		return order.Answer{}, ctx.Err()
	case pends:
		return h.arrive(o, false), nil
	case slow:
		h.arrive(o, true)
		select {
		case <-time.After(unhurried):
		case <-ctx.Done():
			return order.Answer{}, ctx.Err()
		}
	case answers:
	}
	return h.arrive(o, true), nil
}

// submitted counts a submission and returns its behaviour.
func (h *modelProvider) submitted(o order.Order) behaviour {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.orders[o.Reference]
	if known == nil {
		known = &modelOrder{number: o.Number}
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

// arrive accepts an order, which is decided now or by enquiries, and answers.
func (h *modelProvider) arrive(o order.Order, now bool) order.Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, known := h.scripts[o.Number], h.orders[o.Reference]
	if !known.arrived {
		known.arrived, known.outcome = true, order.Pending
		switch {
		case s.Ported && o.Operator != "Jio":
			known.outcome = order.NotSubscriber
			h.moved[o.Number] = true
		case now:
			h.decide(known)
		}
	}
	return h.answer(known)
}

// decide gives a pending order its outcome. The caller holds mu.
func (h *modelProvider) decide(known *modelOrder) {
	known.outcome = order.Failed
	if h.scripts[known.number].Good {
		known.outcome = order.Succeeded
		known.effects++
	}
}

// answer returns the answer for an order that has arrived. The caller holds mu.
func (h *modelProvider) answer(known *modelOrder) order.Answer {
	a := order.Answer{Outcome: known.outcome, ProviderRef: "of " + known.number}
	switch known.outcome {
	case order.Failed:
		a.Code = schema.OperatorNetworkError
	case order.Reversed:
		a.Reason = "taken back"
	case order.Succeeded:
		if h.scripts[known.number].Taken {
			a.RetryAfter = unhurried
		}
		known.known = true
	default:
	}
	return a
}

// Enquire implements order.Operator.
func (h *modelProvider) Enquire(_ context.Context, o order.Order) (order.Answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, known := h.scripts[o.Number], h.orders[o.Reference]
	if known == nil {
		known = &modelOrder{number: o.Number}
		h.orders[o.Reference] = known
	}
	known.enquired++
	switch {
	case known.enquired <= s.Deaf:
		return order.Answer{}, errNoAnswer
	case !known.arrived:
		return order.Answer{Outcome: order.Unknown}, nil
	case known.outcome == order.Pending && known.enquired > s.Deaf+s.Looks:
		h.decide(known)
	case known.outcome == order.Succeeded && s.Taken && known.known:
		known.outcome = order.Reversed
	}
	return h.answer(known), nil
}

// Reverse implements order.Reverser. The first call gets no answer.
func (h *modelProvider) Reverse(_ context.Context, o order.Order) (order.Answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.orders[o.Reference]
	if known == nil {
		known = &modelOrder{number: o.Number}
		h.orders[o.Reference] = known
	}
	known.reversals++
	switch {
	case known.outcome != order.Succeeded && known.outcome != order.Reversed:
		h.faults = append(h.faults, o.Reference+" was to be taken back, which was never carried out")
	case !h.scripts[o.Number].Grants && known.outcome == order.Succeeded:
		return order.Answer{Outcome: order.Failed}, nil
	}
	known.outcome = order.Reversed
	if known.reversals == 1 {
		return order.Answer{}, errNoAnswer
	}
	return h.answer(known), nil
}

// Detect implements order.Directory: it learns of a ported number when an order for it
// is rejected.
func (h *modelProvider) Detect(_ context.Context, number string) (order.Subscriber, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.moved[number] {
		return order.Subscriber{Operator: "Jio", Circle: "Delhi"}, nil
	}
	return order.Subscriber{Operator: "Airtel", Circle: "Delhi"}, nil
}

// Plans implements order.Directory.
func (h *modelProvider) Plans(context.Context, string, string) ([]schema.Plan, error) {
	return nil, nil
}

// callbackFor returns the callback for a reference, and decides a pending order. It
// returns false for an order that did not arrive, or was for another operator.
func (h *modelProvider) callbackFor(reference string) (order.Answer, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.orders[reference]
	if known == nil || !known.arrived || known.outcome == order.NotSubscriber {
		return order.Answer{}, false
	}
	if known.outcome == order.Pending {
		h.decide(known)
	}
	return h.answer(known), true
}

// effects returns how often the subscriber of a number got it, and how often it was
// reversed.
func (h *modelProvider) effects(number string) (got, reversed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, known := range h.orders {
		if known.number != number {
			continue
		}
		got += known.effects
		if known.outcome == order.Reversed {
			reversed++
		}
	}
	return got, reversed
}
