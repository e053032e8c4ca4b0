// Package simulator is an aggregator that carries nothing out: an http.Handler that
// takes orders, keeps what subscribers would have got, and does on demand everything
// that goes wrong between two machines. Its references are idempotent, as those of
// real aggregators are.
package simulator

import (
	"crypto/hmac"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What a client of the simulator shows, and what requests are signed with in both
// directions.
const (
	Key    = "simulator-key"
	Secret = "simulator-secret"
)

//go:embed simulator.yaml
var description string

// Describe is the description of a simulator at a URL, as the setting
// recharge.operators takes it.
func Describe(url string) string {
	return strings.NewReplacer("URL", url, "KEY", Key, "SECRET", Secret).Replace(description)
}

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
	wake   chan struct{} // a callback is new

	mu      sync.Mutex
	orders  map[string]*order
	scripts map[string][]Fault
	asked   map[string]uint64 // requests by what they are about: the dice differ each time
	ledger  []Entry
	due     []telling
}

// New returns a simulator that has no orders.
func New(c Config) *Simulator {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Client == nil {
		c.Client = http.DefaultClient
	}
	s := &Simulator{
		Config: c, routes: http.NewServeMux(), wake: make(chan struct{}, 1),
		orders: map[string]*order{}, scripts: map[string][]Fault{}, asked: map[string]uint64{},
	}
	s.routes.HandleFunc("POST /v1/orders", s.submit)
	s.routes.HandleFunc("GET /v1/orders/{reference}", s.enquire)
	s.routes.HandleFunc("POST /v1/orders/{reference}/refund", s.refund)
	s.routes.HandleFunc("GET /v1/numbers/{number}", s.detect)
	s.routes.HandleFunc("GET /v1/plans", s.plans)
	return s
}

// mostBody is how much of a request is read.
const mostBody = 64 << 10

// ServeHTTP implements http.Handler.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	stamp := r.Header.Get("X-Timestamp")
	at, timeErr := strconv.ParseInt(stamp, 10, 64)
	age := s.Now().Sub(time.Unix(at, 0)).Abs()
	want := sign(stamp + "." + r.Method + "." + r.URL.EscapedPath() + "." + string(body))
	switch {
	case err != nil:
		reply(w, http.StatusRequestEntityTooLarge, word{Code: "TOO_LARGE"})
	case r.Header.Get("X-Api-Key") != Key:
		reply(w, http.StatusUnauthorized, word{Code: "BAD_KEY"})
	case !hmac.Equal([]byte(want), []byte(r.Header.Get("X-Signature"))) || timeErr != nil || age > time.Minute:
		reply(w, http.StatusUnauthorized, word{Code: "BAD_SIGNATURE"})
	default:
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		s.routes.ServeHTTP(w, r)
	}
}

func sign(text string) string {
	mac := hmac.New(sha256.New, []byte(Secret))
	_, _ = mac.Write([]byte(text)) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// word is what the simulator says of an order.
type word struct {
	Reference string `json:"order_ref,omitempty"`
	Status    string `json:"status,omitempty"`
	Code      string `json:"code,omitempty"`
	ID        string `json:"txn_id,omitempty"`
	Circle    string `json:"circle,omitempty"`
}

func reply(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "internal server error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever has hung up needs no answer
}
