// Package fakeaggregator simulates, in memory, a provider of recharges (an aggregator). It is an
// http.Handler that accepts orders, records what subscribers would have got, and injects faults on
// request. Like a real aggregator, it carries out one order per reference, unless providers.Config.Naive is set.
package fakeaggregator

import (
	_ "embed"

	"vayu/internal/testing/providers"
)

//go:embed simulator.yaml
var description string

// Describe returns the description file of a simulator at a URL. The setting recharge.operators lists such files.
func Describe(url string) string { return providers.Fill(description, url) }

// Simulator is an aggregator in memory.
type Simulator struct {
	providers.Simulator[order]

	// Ported maps a number that has moved to another operator to the canonical name of that operator. An order for such
	// a number is rejected if it names a different operator.
	Ported map[string]string

	ledger []Entry
}

// New returns a simulator without orders.
func New(c providers.Config) *Simulator {
	s := new(Simulator)
	s.Init(c, Faults, func(o *order) any { return s.statusOf(o) })
	s.Routes.HandleFunc("POST /v1/orders", s.submit)
	s.Routes.HandleFunc("GET /v1/orders/{reference}", s.about(s.statusOf))
	s.Routes.HandleFunc("POST /v1/orders/{reference}/refund", s.about(func(o *order) orderStatus {
		return orderStatus{Reference: o.Reference, Status: s.takeBack(o)}
	}))
	s.Routes.HandleFunc("GET /v1/numbers/{number}", s.detect)
	s.Routes.HandleFunc("GET /v1/plans", s.plans)
	return s
}

// orderStatus is the state of an order, as in replies.
type orderStatus struct {
	Reference string `json:"order_ref,omitempty"`
	Status    string `json:"status,omitempty"`
	Code      string `json:"code,omitempty"`
	ID        string `json:"txn_id,omitempty"`
	Circle    string `json:"circle,omitempty"`
}
