package simulator

import (
	"net/http"

	"vayu/pipeline/httpconnector/httpconnectortest"
)

// Fault is something that goes wrong, or just not as one would wish.
type Fault = httpconnectortest.Fault

// The faults. All but DropBefore, LateFailure and Refuse carry the order out.
const (
	None              = httpconnectortest.None
	DropBefore        = httpconnectortest.DropBefore // the connection ends, and the order was not taken
	Drop              = httpconnectortest.Drop       // the order is carried out, and the connection ends without an answer
	Delay             = httpconnectortest.Delay      // the answer comes after Config.Slow
	Page              = httpconnectortest.Page       // an HTML page with status 200 instead of an answer
	Broken            = httpconnectortest.Broken     // 500 instead of an answer
	Flood             = httpconnectortest.Flood      // a megabyte instead of an answer
	Duplicate   Fault = "duplicate"                  // success is said at once and by two callbacks
	Late        Fault = "late"                       // pending, and success after Config.Late
	LateFailure Fault = "late_failure"               // pending, and failure after Config.Late
	LieFailed   Fault = "lie_failed"                 // failure is said of an order that is carried out; enquiries tell the truth
	LieForever  Fault = "lie_forever"                // pending is said for ever of an order that is carried out
	Refuse      Fault = "refuse"                     // the order fails, honestly: the number is nobody's
)

// Faults are all of them.
var Faults = []Fault{DropBefore, Drop, Delay, Duplicate, Late, LateFailure, LieFailed, LieForever, Page, Broken, Flood, Refuse}

// Script makes the next orders of a reference or a number go wrong in this order,
// whatever the rates say.
func (s *Simulator) Script(of string, faults ...Fault) { s.dice.Script(of, faults...) }

// Behave lets nothing go wrong any more with what is new. What has gone wrong stays so.
func (s *Simulator) Behave() { s.dice.Rest() }

// ScriptEnquiry makes the next questions about a reference go wrong: with Drop,
// Delay, Page, Broken or Flood.
func (s *Simulator) ScriptEnquiry(reference string, faults ...Fault) {
	s.Script(httpconnectortest.Enquiry(reference), faults...)
}

// fault is what happens to an order.
func (s *Simulator) fault(reference, number string) Fault {
	return s.dice.Fault(s.Seed, s.Rates, Faults, reference, number)
}

// noise is what happens to a request that is no order.
func (s *Simulator) noise(about string) Fault { return s.dice.Noise(s.Seed, s.Noise, about) }

// answer says a word, in the way of a fault.
func (s *Simulator) answer(w http.ResponseWriter, r *http.Request, f Fault, status int, v any) {
	httpconnectortest.Answer(w, r, f, s.Slow, status, v)
}
