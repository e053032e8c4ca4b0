// Package providers has the common parts of the simulated providers: orders, faults, request signatures and callbacks.
package providers

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"

	"vayu/internal/sleep"
)

// Fault is a way in which a simulator deviates from a provider's usual behaviour, or None.
type Fault string

// The faults of an HTTP request and its reply. Each simulator adds faults of its own.
const (
	None       Fault = ""
	DropBefore Fault = "drop_before" // the connection ends before the request has an effect
	Drop       Fault = "drop"        // the connection ends after the effect, without an answer
	Delay      Fault = "delay"       // the answer comes late
	Page       Fault = "page"        // an HTML page with status 200
	Broken     Fault = "broken"      // status 500
	Flood      Fault = "flood"       // a megabyte of blanks
)

// Dice selects faults at random, but reproducibly. A choice depends on the seed, the subject (such as a
// reference), and the number of earlier choices for the subject. Dice is safe for concurrent use.
type Dice struct {
	config *Config
	faults []Fault // of orders

	mu      sync.Mutex
	scripts map[string][]Fault
	draws   map[string]uint64
	stopped bool
}

// DisableFaults ends random faults. Faults that Script has set still occur.
func (d *Dice) DisableFaults() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}

// Script sets the next faults of a subject. They occur before any random fault.
func (d *Dice) Script(about string, faults ...Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scripts[about] = append(d.scripts[about], faults...)
}

// Fault returns the fault of an order. An order has several names, such as its reference and its account. If Script has
// set a fault for one of the names, Fault returns and removes it. Otherwise, unless random faults are disabled, Fault
// draws a fault for the first name, with the probabilities of Config.Rates.
func (d *Dice) Fault(names ...string) Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		if f, ok := d.nextScripted(name); ok {
			return f
		}
	}
	if d.stopped {
		return None
	}
	dice := d.draw(names[0])
	for _, f := range d.faults {
		if dice -= d.config.Rates[f]; dice < 0 {
			return f
		}
	}
	return None
}

// noises are the faults that Noise draws at random.
var noises = []Fault{Drop, Page, Broken}

// enquiry returns the key in Dice.scripts and Dice.draws for requests about a subject that are not orders.
func enquiry(about string) string { return "GET " + about }

// ScriptEnquiry sets the next faults of requests about a subject that are not orders. [Dice.Noise] returns them. Each
// fault must be Drop, Delay, Page, Broken or Flood.
func (d *Dice) ScriptEnquiry(about string, faults ...Fault) { d.Script(enquiry(about), faults...) }

// Noise returns the fault of a request that is not an order: the next fault that ScriptEnquiry has set. If there is
// none, it returns a random fault with the probability Config.Noise, and else None.
func (d *Dice) Noise(about string) Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f, ok := d.nextScripted(enquiry(about)); ok {
		return f
	}
	dice := d.draw(enquiry(about))
	if d.stopped || dice >= d.config.Noise {
		return None
	}
	return noises[int(dice/d.config.Noise*float64(len(noises)))]
}

// nextScripted returns the next fault that Script has set for a subject, and removes it.
func (d *Dice) nextScripted(about string) (Fault, bool) {
	all := d.scripts[about]
	if len(all) == 0 {
		return None, false
	}
	d.scripts[about] = all[1:]
	return all[0], true
}

// draw returns a reproducible number from 0 to 1 for a subject.
func (d *Dice) draw(about string) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(about)) // never fails
	d.draws[about]++
	return rand.New(rand.NewPCG(d.config.Seed^h.Sum64(), d.draws[about])).Float64()
}

// megabyte is the size of an oversized reply. No client reads that many bytes.
const megabyte = 1 << 20

// Answer sends v as a JSON reply, changed by the fault f.
func (s *Simulator[Order]) Answer(w http.ResponseWriter, r *http.Request, f Fault, status int, v any) {
	switch f {
	case DropBefore, Drop:
		panic(http.ErrAbortHandler) // net/http closes the connection
	case Delay:
		if s.Delayed != nil {
			s.Delayed()
		}
		sleep.For(r.Context(), s.Slow)
	case Page:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>Gateway</title><p>Please try again later.")) // a disconnected client needs no answer
		return
	case Broken:
		http.Error(w, "internal server error", http.StatusInternalServerError)
		return
	case Flood:
		_, _ = w.Write([]byte(strings.Repeat(" ", megabyte))) // a disconnected client needs no answer
		return
	}
	Reply(w, status, v)
}

// Reply sends v as a JSON reply.
func Reply(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "internal server error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a disconnected client needs no answer
}
