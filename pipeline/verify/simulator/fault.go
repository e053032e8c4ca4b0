package simulator

import (
	"net/http"

	"vayu/pipeline/httpconnector/httpconnectortest"
)

// Fault is something that goes wrong, or just not as one would wish.
type Fault = httpconnectortest.Fault

// The faults. All but DropBefore, LateMissing, Missing and Away make the deposit.
const (
	None       = httpconnectortest.None
	DropBefore = httpconnectortest.DropBefore // the connection ends, and the deposit was not taken
	Drop       = httpconnectortest.Drop       // the deposit is made, and the connection ends without an answer
	Delay      = httpconnectortest.Delay      // the answer comes after Config.Slow
	Page       = httpconnectortest.Page       // an HTML page with status 200 instead of an answer
	Broken     = httpconnectortest.Broken     // the deposit is made, and 500 is the answer
	Flood      = httpconnectortest.Flood      // a megabyte instead of an answer

	Duplicate   Fault = "duplicate"    // the verdict is said at once and by two callbacks
	Late        Fault = "late"         // pending, and found after Config.Late
	LateMissing Fault = "late_missing" // pending, and not found after Config.Late
	LieMissing  Fault = "lie_missing"  // not found is said of an account that has got the deposit; enquiries tell the truth
	LieForever  Fault = "lie_forever"  // pending is said for ever of a deposit that was made
	Forget      Fault = "forget"       // the deposit is made, the connection ends, and the first enquiry is told that nobody has seen it
	Waver       Fault = "waver"        // the connection ends, and enquiries say in turn that there is no such account, and that there is
	Other       Fault = "other"        // the answer is about another reference
	Missing     Fault = "missing"      // not found, honestly
	Away        Fault = "away"         // not made, honestly; it is made when it is asked for again
)

// Faults are all of them.
var Faults = []Fault{
	DropBefore, Drop, Delay, Duplicate, Late, LateMissing, LieMissing, LieForever, Forget, Waver, Other, Page, Broken, Flood, Missing, Away,
}

// Script makes the next orders of a reference, an account or an address go wrong in
// this order, whatever the rates say.
func (s *Simulator) Script(of string, faults ...Fault) { s.dice.Script(of, faults...) }

// Behave lets nothing go wrong any more with what is new. What has gone wrong stays so.
func (s *Simulator) Behave() { s.dice.Rest() }

// ScriptEnquiry makes the next enquiries about a reference go wrong: with Drop, Delay,
// Page, Broken or Flood.
func (s *Simulator) ScriptEnquiry(reference string, faults ...Fault) {
	s.Script(httpconnectortest.Enquiry(reference), faults...)
}

// fault is what happens to an order.
func (s *Simulator) fault(reference, target string) Fault {
	return s.dice.Fault(s.Seed, s.Rates, Faults, reference, target)
}

// answer says a word, in the way of a fault.
func (s *Simulator) answer(w http.ResponseWriter, r *http.Request, f Fault, status int, said reply) {
	switch f {
	case Forget, Waver:
		f = Drop
	case Other:
		said.Reference = "another"
	}
	httpconnectortest.Answer(w, r, f, s.Slow, status, said)
}
