// Package fakebank simulates a bank: an http.Handler that accepts penny drops (deposits of one
// rupee) and lookups of UPI addresses. It counts the deposits that it would have made, and injects
// faults on request. As with every connected bank, a repeated reference has no effect, unless the
// simulator is naive.
package fakebank

import (
	_ "embed"
	"net/http"
	"sync"
	"time"

	"vayu/internal/testing/providers"
)

//go:embed simulator.yaml
var description string

// Describe returns the description file of a simulator at a URL. The setting verify.banks lists
// such files.
func Describe(url string) string { return providers.Fill(description, url) }

// Config configures a simulator. The zero value injects no faults.
type Config struct {
	// Rates has the probability of each fault in deposits and lookups, 0 to 1. Their sum is at most
	// 1.
	Rates map[providers.Fault]float64
	// Noise is the probability that a status enquiry gets no answer or an unreadable one.
	Noise float64
	// Seed and an order's reference determine the fault of the order.
	Seed uint64
	// Late is the delay of a late outcome, and Slow that of a reply with the fault Delay.
	Late, Slow time.Duration
	// Callback is the URL to which callbacks are sent; empty for none.
	Callback string
	// Naive disables idempotency: each request makes a deposit, even with a known reference.
	Naive bool
	// Accounts has the accounts that differ from DefaultAccount, by account number or UPI address.
	Accounts map[string]Account
	// Client sends callbacks; nil for http.DefaultClient.
	Client *http.Client
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Account is the bank's data about an account or a UPI address. Replies omit empty texts.
type Account struct {
	Name   string `json:"name,omitempty"`
	State  string `json:"state,omitempty"` // ACTIVE, DORMANT, FROZEN, CLOSED
	Bank   string `json:"bank,omitempty"`
	Branch string `json:"branch,omitempty"`

	Missing bool     `json:"-"` // the account does not exist
	Flags   []string `json:"-"` // FRAUD, MULE, NEW
}

// DefaultAccount is the account of every number or address that is not in Config.Accounts.
var DefaultAccount = Account{Name: "ASHA RAO", State: "ACTIVE", Bank: "Bank of Simulation", Branch: "Main Road"}

// Simulator is a bank in memory.
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
			return s.currentReply(s.orders[reference])
		},
	}
	s.routes.HandleFunc("POST /v1/deposits", s.deposit)
	s.routes.HandleFunc("GET /v1/deposits/{reference}", s.enquire)
	s.routes.HandleFunc("GET /v1/addresses/{vpa}", s.resolve)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if providers.Admit(w, r, s.Now()) {
		s.routes.ServeHTTP(w, r)
	}
}
