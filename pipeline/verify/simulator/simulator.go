// Package simulator is a bank without money: an http.Handler that takes penny drops
// and questions about addresses, counts the deposits that it would have made, and does
// on demand everything that goes wrong between two machines. Its references are
// idempotent, as those of a bank that is connected must be, unless it is naive.
package simulator

import (
	"context"
	_ "embed"
	"net/http"
	"sync"
	"time"

	"vayu/pipeline/httpconnector/httpconnectortest"
)

//go:embed simulator.yaml
var description string

// Describe is the description of a simulator at a URL, as the setting verify.banks
// takes it.
func Describe(url string) string { return httpconnectortest.Fill(description, url) }

// Sign puts onto a callback what the simulator's carry.
func Sign(header http.Header, body []byte, now time.Time) { httpconnectortest.Sign(header, body, now) }

// Config is how a simulator behaves. The zero value is an honest one.
type Config struct {
	// Rates are how likely each fault of a deposit is, or of a question about an address,
	// 0 to 1; their sum is at most 1.
	Rates map[Fault]float64
	// Noise is how likely an enquiry is not answered, or with nonsense.
	Noise float64
	// Seed decides which orders faults happen to, by reference.
	Seed uint64
	// Late is how long a deposit takes whose outcome is late, and Slow how long an
	// answer that is delayed.
	Late, Slow time.Duration
	// Callback is where callbacks go; empty for none.
	Callback string
	// Naive makes a deposit for every request that it gets, also when it knows the
	// reference.
	Naive bool
	// Accounts are those that are not as every other, by account number or address.
	Accounts map[string]Account
	// Client sends callbacks; nil for http.DefaultClient.
	Client *http.Client
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Account is what the simulator knows of an account or address. Empty words are not
// said.
type Account struct {
	Name   string `json:"name,omitempty"`
	State  string `json:"state,omitempty"` // ACTIVE, DORMANT, FROZEN, CLOSED
	Bank   string `json:"bank,omitempty"`
	Branch string `json:"branch,omitempty"`

	Missing bool     `json:"-"` // there is none
	Flags   []string `json:"-"` // FRAUD, MULE, NEW
}

// Everybody is what every account is that Config.Accounts does not hold.
var Everybody = Account{Name: "ASHA RAO", State: "ACTIVE", Bank: "Bank of Simulation", Branch: "Main Road"}

// Simulator is a bank in memory.
type Simulator struct {
	Config

	routes    *http.ServeMux
	dice      httpconnectortest.Dice
	callbacks httpconnectortest.Teller

	mu     sync.Mutex
	orders map[string]*order
	ledger []Entry
}

// New returns a simulator that has no orders.
func New(c Config) *Simulator {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Simulator{Config: c, routes: http.NewServeMux(), orders: map[string]*order{}}
	s.callbacks = httpconnectortest.Teller{
		To: func() string { return s.Callback }, Client: c.Client, Now: c.Now,
		Say: func(reference string) any {
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
	if httpconnectortest.Admit(w, r, s.Now()) {
		s.routes.ServeHTTP(w, r)
	}
}

// Run sends callbacks when they are due, until ctx ends.
func (s *Simulator) Run(ctx context.Context) error { return s.callbacks.Run(ctx) }

// Tell sends the callbacks that are due, once each, and returns how long it is until
// the next is. One that is not taken becomes due again.
func (s *Simulator) Tell(ctx context.Context) time.Duration { return s.callbacks.Tell(ctx) }
