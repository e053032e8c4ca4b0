package simulator

import (
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// Fault is something that goes wrong, or just not as one would wish.
type Fault string

// The faults. All but DropBefore, LateFailure and Refuse carry the order out.
const (
	None        Fault = ""
	DropBefore  Fault = "drop_before"  // the connection ends, and the order was not taken
	Drop        Fault = "drop"         // the order is carried out, and the connection ends without an answer
	Delay       Fault = "delay"        // the answer comes after Config.Slow
	Duplicate   Fault = "duplicate"    // success is said at once and by two callbacks
	Late        Fault = "late"         // pending, and success after Config.Late
	LateFailure Fault = "late_failure" // pending, and failure after Config.Late
	LieFailed   Fault = "lie_failed"   // failure is said of an order that is carried out; enquiries tell the truth
	LieForever  Fault = "lie_forever"  // pending is said for ever of an order that is carried out
	Page        Fault = "page"         // an HTML page with status 200 instead of an answer
	Broken      Fault = "broken"       // 500 instead of an answer
	Flood       Fault = "flood"        // a megabyte instead of an answer
	Refuse      Fault = "refuse"       // the order fails, honestly: the number is nobody's
)

// Faults are all of them.
var Faults = []Fault{DropBefore, Drop, Delay, Duplicate, Late, LateFailure, LieFailed, LieForever, Page, Broken, Flood, Refuse}

// Script makes the next orders of a reference or a number go wrong in this order,
// whatever the rates say.
func (s *Simulator) Script(of string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[of] = append(s.scripts[of], faults...)
}

// ScriptEnquiry makes the next questions about a reference go wrong: with Drop,
// Delay, Page, Broken or Flood.
func (s *Simulator) ScriptEnquiry(reference string, faults ...Fault) {
	s.Script(enquiries+reference, faults...)
}

// enquiries begins the scripts of what is no order.
const enquiries = "GET "

// fault is what happens to an order.
func (s *Simulator) fault(reference, number string) Fault {
	if f, ok := s.scripted(reference); ok {
		return f
	}
	if f, ok := s.scripted(number); ok {
		return f
	}
	dice := s.throw(reference)
	for _, f := range Faults {
		if dice -= s.Rates[f]; dice < 0 {
			return f
		}
	}
	return None
}

// noises are what happens to requests that are no orders.
var noises = []Fault{Drop, Page, Broken}

func (s *Simulator) noise(about string) Fault {
	if f, ok := s.scripted(enquiries + about); ok {
		return f
	}
	dice := s.throw(enquiries + about)
	if dice >= s.Noise {
		return None
	}
	return noises[int(dice/s.Noise*float64(len(noises)))]
}

func (s *Simulator) scripted(of string) (Fault, bool) {
	all := s.scripts[of]
	if len(all) == 0 {
		return None, false
	}
	s.scripts[of] = all[1:]
	return all[0], true
}

// throw is a number from 0 to 1 that is the same in every run.
func (s *Simulator) throw(about string) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(about)) // never fails
	s.asked[about]++
	return rand.New(rand.NewPCG(s.Seed^h.Sum64(), s.asked[about])).Float64()
}

// megabyte is more than anybody reads.
const megabyte = 1 << 20

// answer says a word, in the way of a fault.
func (s *Simulator) answer(w http.ResponseWriter, r *http.Request, f Fault, status int, v any) {
	switch f {
	case DropBefore, Drop:
		panic(http.ErrAbortHandler) // net/http closes the connection
	case Delay:
		wait(r, s.Slow)
	case Page:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>Gateway</title><p>Please try again later.")) // whoever has hung up needs no answer
		return
	case Broken:
		http.Error(w, "internal server error", http.StatusInternalServerError)
		return
	case Flood:
		_, _ = w.Write([]byte(strings.Repeat(" ", megabyte))) // the same
		return
	}
	reply(w, status, v)
}

func wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
