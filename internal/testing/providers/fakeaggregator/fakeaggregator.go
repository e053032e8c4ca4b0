// Package fakeaggregator simulates, in memory, a provider of recharges (an aggregator). It is an
// http.Handler that accepts orders, records what subscribers would have got, and injects faults on
// request. Like a real aggregator, it carries out one order per reference.
package fakeaggregator

import (
	_ "embed"
	"net/http"
	"sync"
	"time"

	"vayu/internal/testing/providers"
)

//go:embed simulator.yaml
var description string

// Describe returns the description file of a simulator at a URL. The setting recharge.operators
// lists such files.
func Describe(url string) string { return providers.Fill(description, url) }

// Config configures a simulator. The zero value injects no faults.
type Config struct {
	// Rates has the probability of each fault of an order, 0 to 1. Their sum is at most 1.
	Rates map[providers.Fault]float64
	// Noise is the probability that a request that is not an order gets no valid answer.
	Noise float64
	// Seed and an order's reference determine the fault of the order.
	Seed uint64
	// Late is the delay of a late outcome, and Slow that of a reply with the fault Delay.
	Late, Slow time.Duration
	// Callback is the URL to which callbacks are sent; empty for none.
	Callback string
	// Naive disables idempotency: each submission of a reference is carried out.
	Naive bool
	// Ported maps a number that has moved to another operator to the canonical name of that
	// operator. An order for a wrong operator is rejected.
	Ported map[string]string
	// Client sends callbacks; nil for http.DefaultClient.
	Client *http.Client
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Simulator is an aggregator in memory.
type Simulator struct {
	Config

	routes *http.ServeMux
	// Dice decides the faults, and Callbacks sends the callbacks.
	Dice      providers.Dice
	Callbacks providers.CallbackSender

	mu     sync.Mutex
	orders map[string]*order
	ledger []Entry
}

// New returns a simulator without orders.
func New(c Config) *Simulator {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Simulator{Config: c, routes: http.NewServeMux(), orders: map[string]*order{}}
	s.Callbacks = providers.CallbackSender{
		URL: func() string { return s.Callback }, Client: c.Client, Now: c.Now,
		Content: func(reference string) any {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.statusOf(s.orders[reference])
		},
	}
	s.routes.HandleFunc("POST /v1/orders", s.submit)
	s.routes.HandleFunc("GET /v1/orders/{reference}", s.enquire)
	s.routes.HandleFunc("POST /v1/orders/{reference}/refund", s.refund)
	s.routes.HandleFunc("GET /v1/numbers/{number}", s.detect)
	s.routes.HandleFunc("GET /v1/plans", s.plans)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if providers.Admit(w, r, s.Now()) {
		s.routes.ServeHTTP(w, r)
	}
}

// orderStatus is the state of an order, as in replies.
type orderStatus struct {
	Reference string `json:"order_ref,omitempty"`
	Status    string `json:"status,omitempty"`
	Code      string `json:"code,omitempty"`
	ID        string `json:"txn_id,omitempty"`
	Circle    string `json:"circle,omitempty"`
}

func reply(w http.ResponseWriter, status int, v any) { providers.Reply(w, status, v) }
