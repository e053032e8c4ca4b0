package fakeaggregator

import (
	"net/http"

	"vayu/internal/testing/providers"
)

// The faults of an order. Only DropBefore, LateFailure and Refuse do not carry the order out.
const (
	Duplicate   providers.Fault = "duplicate"    // success, at once and by two callbacks
	Late        providers.Fault = "late"         // pending, and success after Config.Late
	LateFailure providers.Fault = "late_failure" // pending, and failure after Config.Late
	LieFailed   providers.Fault = "lie_failed"   // failure of an order that is carried out; enquiries return success
	LieForever  providers.Fault = "lie_forever"  // always pending, although the order is carried out
	Refuse      providers.Fault = "refuse"       // the order fails: the number has no subscriber
)

// Faults lists all faults except None.
var Faults = []providers.Fault{
	providers.DropBefore, providers.Drop, providers.Delay, Duplicate, Late, LateFailure, LieFailed, LieForever,
	providers.Page, providers.Broken, providers.Flood, Refuse,
}

// fault returns the fault that an order gets.
func (s *Simulator) fault(reference, number string) providers.Fault {
	return s.Dice.Fault(s.Seed, s.Rates, Faults, reference, number)
}

// noise returns the fault that a request gets that is not an order.
func (s *Simulator) noise(about string) providers.Fault { return s.Dice.Noise(s.Seed, s.Noise, about) }

// answer sends v as the reply, changed by the fault f.
func (s *Simulator) answer(w http.ResponseWriter, r *http.Request, f providers.Fault, status int, v any) {
	providers.Answer(w, r, f, s.Slow, status, v)
}
