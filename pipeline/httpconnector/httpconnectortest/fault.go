// Package httpconnectortest is what simulators of upstreams are made of, and what tests of
// those who call upstreams share: everything that goes wrong between two machines,
// signatures in both directions, callbacks, and pages of documentation that are run.
package httpconnectortest

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Fault is something that goes wrong, or just not as one would wish.
type Fault string

// The faults of an exchange. Simulators add those of what they do.
const (
	None       Fault = ""
	DropBefore Fault = "drop_before" // the connection ends, and nothing was done
	Drop       Fault = "drop"        // the connection ends without an answer when all was done
	Delay      Fault = "delay"       // the answer comes late
	Page       Fault = "page"        // an HTML page with status 200 instead of an answer
	Broken     Fault = "broken"      // 500 instead of an answer
	Flood      Fault = "flood"       // a megabyte instead of an answer
)

// Dice decide what goes wrong. What they decide depends on the seed, on what it is
// about, and on how often that was asked: it is the same in every run. The zero value
// is usable, and many goroutines can use it at once.
type Dice struct {
	mu      sync.Mutex
	scripts map[string][]Fault
	draws   map[string]uint64
	stopped bool
}

// Rest lets nothing go wrong any more but what a script says.
func (d *Dice) Rest() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}

// Script makes what next happens about something go wrong in this order, whatever the
// rates say.
func (d *Dice) Script(about string, faults ...Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.scripts == nil {
		d.scripts = map[string][]Fault{}
	}
	d.scripts[about] = append(d.scripts[about], faults...)
}

// Fault is what happens to an order that goes by several names: what the script of one
// of them says, or one of the faults by its rate, 0 to 1, for the first name.
func (d *Dice) Fault(seed uint64, rates map[Fault]float64, faults []Fault, names ...string) Fault {
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
	dice := d.draw(seed, names[0])
	for _, f := range faults {
		if dice -= rates[f]; dice < 0 {
			return f
		}
	}
	return None
}

// noises are what happens to requests that are no orders.
var noises = []Fault{Drop, Page, Broken}

// Enquiry is the name for Script of the questions about something.
func Enquiry(about string) string { return "GET " + about }

// Noise is what happens to a question about something; rate is how likely it is not
// answered, or with nonsense.
func (d *Dice) Noise(seed uint64, rate float64, about string) Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f, ok := d.nextScripted(Enquiry(about)); ok {
		return f
	}
	dice := d.draw(seed, Enquiry(about))
	if d.stopped || dice >= rate {
		return None
	}
	return noises[int(dice/rate*float64(len(noises)))]
}

func (d *Dice) nextScripted(of string) (Fault, bool) {
	all := d.scripts[of]
	if len(all) == 0 {
		return None, false
	}
	d.scripts[of] = all[1:]
	return all[0], true
}

// draw is a number from 0 to 1 that is the same in every run.
func (d *Dice) draw(seed uint64, about string) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(about)) // never fails
	if d.draws == nil {
		d.draws = map[string]uint64{}
	}
	d.draws[about]++
	return rand.New(rand.NewPCG(seed^h.Sum64(), d.draws[about])).Float64()
}

// megabyte is more than anybody reads.
const megabyte = 1 << 20

// Answer says a word, in the way of a fault; slow is how late one of Delay is.
func Answer(w http.ResponseWriter, r *http.Request, f Fault, slow time.Duration, status int, v any) {
	switch f {
	case DropBefore, Drop:
		panic(http.ErrAbortHandler) // net/http closes the connection
	case Delay:
		wait(r, slow)
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
	Reply(w, status, v)
}

func wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

// Reply says a word as JSON.
func Reply(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "internal server error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever has hung up needs no answer
}
