package fakeaggregator

import (
	"net/http"

	"vayu/internal/testing/providers"
)

// Fault is a way in which the simulator misbehaves for one request.
type Fault = providers.Fault

// The faults of an order. All except DropBefore, LateFailure and Refuse carry the order out.
const (
	None              = providers.None
	DropBefore        = providers.DropBefore // the connection ends, and the order was not accepted
	Drop              = providers.Drop       // the order is carried out, and the connection ends without an answer
	Delay             = providers.Delay      // the answer comes after Config.Slow
	Page              = providers.Page       // an HTML page with status 200 instead of an answer
	Broken            = providers.Broken     // 500 instead of an answer
	Flood             = providers.Flood      // a megabyte instead of an answer
	Duplicate   Fault = "duplicate"          // success, at once and by two callbacks
	Late        Fault = "late"               // pending, and success after Config.Late
	LateFailure Fault = "late_failure"       // pending, and failure after Config.Late
	LieFailed   Fault = "lie_failed"         // failure of an order that is carried out; enquiries return success
	LieForever  Fault = "lie_forever"        // always pending, although the order is carried out
	Refuse      Fault = "refuse"             // the order fails: the number has no subscriber
)

// Faults lists all faults except None.
var Faults = []Fault{DropBefore, Drop, Delay, Duplicate, Late, LateFailure, LieFailed, LieForever, Page, Broken, Flood, Refuse}

// Script injects faults into the next orders with a reference or number, in the given
// sequence and regardless of the rates.
func (s *Simulator) Script(of string, faults ...Fault) { s.dice.Script(of, faults...) }

// DisableFaults ends random faults. Scripts still apply, and past faults keep their effect.
func (s *Simulator) DisableFaults() { s.dice.DisableFaults() }

// ScriptEnquiry injects faults into the next enquiries of a reference: Drop, Delay, Page,
// Broken or Flood.
func (s *Simulator) ScriptEnquiry(reference string, faults ...Fault) {
	s.Script(providers.Enquiry(reference), faults...)
}

// fault returns the fault of an order.
func (s *Simulator) fault(reference, number string) Fault {
	return s.dice.Fault(s.Seed, s.Rates, Faults, reference, number)
}

// noise returns the fault of a request that is not an order.
func (s *Simulator) noise(about string) Fault { return s.dice.Noise(s.Seed, s.Noise, about) }

// answer sends v as the reply, changed by the fault f.
func (s *Simulator) answer(w http.ResponseWriter, r *http.Request, f Fault, status int, v any) {
	providers.Answer(w, r, f, s.Slow, status, v)
}
