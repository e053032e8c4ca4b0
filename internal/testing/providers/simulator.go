package providers

import (
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"vayu/pipeline/httpconnector"
)

// Config configures a simulator. The zero value injects no faults.
type Config struct {
	// Rates has the probability of each fault of an order, 0 to 1. Their sum is at most 1.
	Rates map[Fault]float64
	// Noise is the probability that a request other than an order gets no valid answer.
	Noise float64
	// Seed and an order's reference determine the random faults of the order.
	Seed uint64
	// Late is the delay of an order's result, if a fault delays the result. Slow is the delay of the fault Delay.
	Late, Slow time.Duration
	// Delayed is called when the fault Delay begins to delay a reply. It may be nil.
	Delayed func()
	// Callback is the URL to which callbacks are sent. If it is empty, none are sent.
	Callback string
	// Naive disables idempotency: a repeated order is carried out again, unless the order was rejected or has failed.
	Naive bool
	// Now returns the current time. If it is nil, time.Now is used.
	Now func() time.Time
}

// Simulator is the part that the simulators of all providers share: an http.Handler with orders in
// memory. Order is the type of an order.
type Simulator[Order any] struct {
	Config

	// Dice decides the faults, and Callbacks sends the callbacks.
	Dice      Dice
	Callbacks CallbackSender
	// Routes has the endpoints of the provider.
	Routes http.ServeMux

	Mu     sync.Mutex        // protects all orders
	Orders map[string]*Order // by reference
}

// Init prepares s. The parameter `faults` has the faults that an order can get. The function `state` returns the state
// of an order for a callback, and is called while Mu is locked.
func (s *Simulator[Order]) Init(c Config, faults []Fault, state func(*Order) any) {
	if c.Now == nil {
		c.Now = time.Now
	}
	s.Config, s.Orders = c, map[string]*Order{}
	s.Dice = Dice{config: &s.Config, faults: faults, scripts: map[string][]Fault{}, draws: map[string]uint64{}}
	s.Callbacks = CallbackSender{config: &s.Config, wake: make(chan struct{}, 1), content: func(reference string) any {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		return state(s.Orders[reference])
	}}
}

// ServeHTTP implements http.Handler.
func (s *Simulator[Order]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if admit(w, r, s.Now()) {
		s.Routes.ServeHTTP(w, r)
	}
}

// Count calls the function `of` for each order, and returns the results by reference.
func (s *Simulator[Order]) Count(of func(*Order) int) map[string]int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	all := make(map[string]int, len(s.Orders))
	for reference, o := range s.Orders {
		all[reference] = of(o)
	}
	return all
}

// Connect opens the connection of a description.
func Connect[C any](tb testing.TB, open func(string, httpconnector.Options) (C, error), description string, o httpconnector.Options) C {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "provider.yaml")
	if err := os.WriteFile(file, []byte(description), 0o600); err != nil {
		tb.Fatal(err)
	}
	c, err := open(file, o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
