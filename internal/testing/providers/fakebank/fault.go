package fakebank

import (
	"net/http"

	"vayu/internal/testing/providers"
)

// Fault is a deviation of the simulator from the usual behaviour of a bank.
type Fault = providers.Fault

// The faults. All but DropBefore, LateMissing, Missing and Away make the deposit.
const (
	None       = providers.None
	DropBefore = providers.DropBefore // the connection ends before the deposit
	Drop       = providers.Drop       // the deposit is made, and the connection ends without an answer
	Delay      = providers.Delay      // the answer comes after Config.Slow
	Page       = providers.Page       // an HTML page with status 200
	Broken     = providers.Broken     // the deposit is made, and the answer is 500
	Flood      = providers.Flood      // the answer is a megabyte of blanks

	Duplicate   Fault = "duplicate"    // the reply has the result, and two callbacks repeat it
	Late        Fault = "late"         // pending, and found after Config.Late
	LateMissing Fault = "late_missing" // pending, and not found after Config.Late
	LieMissing  Fault = "lie_missing"  // the first answer is a wrong not_found; enquiries are correct
	LieForever  Fault = "lie_forever"  // the deposit is made, and every answer is pending
	Forget      Fault = "forget"       // the deposit is made, the connection ends, and the first enquiry answers unknown
	Waver       Fault = "waver"        // the connection ends, and enquiries alternate between not_found and found
	Other       Fault = "other"        // the answer has another reference
	Missing     Fault = "missing"      // a correct not_found
	Away        Fault = "away"         // a correct not_made; a repetition makes the deposit
)

// Faults lists all faults.
var Faults = []Fault{
	DropBefore, Drop, Delay, Duplicate, Late, LateMissing, LieMissing, LieForever, Forget, Waver, Other, Page, Broken, Flood, Missing, Away,
}

// Script sets the faults of the next orders of a reference, an account or an address. Scripted
// faults come before the random ones of Config.Rates.
func (s *Simulator) Script(of string, faults ...Fault) { s.dice.Script(of, faults...) }

// DisableFaults ends random faults of new orders. Earlier orders keep their faults.
func (s *Simulator) DisableFaults() { s.dice.DisableFaults() }

// ScriptEnquiry sets the faults of the next enquiries about a reference: Drop, Delay, Page,
// Broken or Flood.
func (s *Simulator) ScriptEnquiry(reference string, faults ...Fault) {
	s.Script(providers.Enquiry(reference), faults...)
}

// fault returns the fault of an order.
func (s *Simulator) fault(reference, target string) Fault {
	return s.dice.Fault(s.Seed, s.Rates, Faults, reference, target)
}

// answer sends out as the reply, changed by the fault f.
func (s *Simulator) answer(w http.ResponseWriter, r *http.Request, f Fault, status int, out reply) {
	switch f {
	case Forget, Waver:
		f = Drop
	case Other:
		out.Reference = "another"
	}
	providers.Answer(w, r, f, s.Slow, status, out)
}
