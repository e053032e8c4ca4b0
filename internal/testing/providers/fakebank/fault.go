package fakebank

import (
	"net/http"

	"vayu/internal/testing/providers"
)

// The faults of an order. The comments name the outcomes that Vayu derives from replies. For example, not_found means
// that the account does not exist. With DropBefore, LateMissing, Missing and Away no deposit is made.
const (
	Duplicate   providers.Fault = "duplicate"    // the reply has the result, and two callbacks repeat it
	Late        providers.Fault = "late"         // pending, and found after Config.Late
	LateMissing providers.Fault = "late_missing" // pending, and not found after Config.Late
	LieMissing  providers.Fault = "lie_missing"  // the first answer is a wrong not_found; enquiries are correct
	LieForever  providers.Fault = "lie_forever"  // the deposit is made, and every answer is pending
	Forget      providers.Fault = "forget"       // the deposit is made, the connection ends, and the first enquiry answers unknown
	Waver       providers.Fault = "waver"        // the connection ends, and enquiries alternate between not_found and found
	Other       providers.Fault = "other"        // the answer has another reference
	Missing     providers.Fault = "missing"      // a correct not_found
	Away        providers.Fault = "away"         // a correct not_made; a repeated request draws a new fault
)

// Faults lists all faults.
var Faults = []providers.Fault{
	providers.DropBefore, providers.Drop, providers.Delay, Duplicate, Late, LateMissing, LieMissing, LieForever,
	Forget, Waver, Other, providers.Page, providers.Broken, providers.Flood, Missing, Away,
}

// answer sends a reply, changed by the fault f.
func (s *Simulator) answer(w http.ResponseWriter, r *http.Request, f providers.Fault, status int, out reply) {
	switch f {
	case Forget, Waver:
		f = providers.Drop
	case Other:
		out.Reference = "another"
	}
	s.Answer(w, r, f, status, out)
}
