// Package simulator is an aggregator that carries nothing out: an http.Handler that
// takes orders, keeps what subscribers would have got, and does on demand everything
// that goes wrong between two machines. Its references are idempotent, as those of
// real aggregators are.
package simulator

import (
	_ "embed"
	"net/http"
	"sync"
	"time"

	"vayu/pipeline/httpconnector/httpconnectortest"
)

// What a client of the simulator shows, and what requests are signed with in both
// directions.
const (
	Key    = httpconnectortest.Key
	Secret = httpconnectortest.Secret
)

//go:embed simulator.yaml
var description string

// Describe is the description of a simulator at a URL, as the setting
// recharge.operators takes it.
func Describe(url string) string { return httpconnectortest.Fill(description, url) }

// Config is how a simulator behaves. The zero value is an honest one.
type Config struct {
	// Rates are how likely each fault of an order is, 0 to 1; their sum is at most 1.
	Rates map[Fault]float64
	// Noise is how likely any other request is not answered, or with nonsense.
	Noise float64
	// Seed decides which orders faults happen to, by reference.
	Seed uint64
	// Late is how long an order takes whose outcome is late, and Slow how long an
	// answer that is delayed.
	Late, Slow time.Duration
	// Callback is where callbacks go; empty for none.
	Callback string
	// Naive carries an order out as often as it comes.
	Naive bool
	// Ported are numbers that belong to another operator than their series says, by
	// canonical name. An order for a wrong operator is refused.
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
	dice   httpconnectortest.Dice
	teller httpconnectortest.Teller

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
	s.teller = httpconnectortest.Teller{
		To: func() string { return s.Callback }, Client: c.Client, Now: c.Now,
		Say: func(reference string) any {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.say(s.orders[reference])
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
	if httpconnectortest.Admit(w, r, s.Now()) {
		s.routes.ServeHTTP(w, r)
	}
}

// word is what the simulator says of an order.
type word struct {
	Reference string `json:"order_ref,omitempty"`
	Status    string `json:"status,omitempty"`
	Code      string `json:"code,omitempty"`
	ID        string `json:"txn_id,omitempty"`
	Circle    string `json:"circle,omitempty"`
}

func reply(w http.ResponseWriter, status int, v any) { httpconnectortest.Reply(w, status, v) }
