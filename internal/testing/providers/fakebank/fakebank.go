// Package fakebank simulates a bank: an http.Handler that accepts penny drops (deposits of one rupee) and lookups of
// UPI addresses. It counts the deposits that it would have made, and injects faults on request. As with every connected
// bank, a repeated reference has no effect, unless the option Naive is set.
package fakebank

import (
	_ "embed"

	"vayu/internal/testing/providers"
)

//go:embed simulator.yaml
var description string

// Describe returns the text of a description file for a simulator at `url`. The setting verify.banks lists such files.
func Describe(url string) string { return providers.Fill(description, url) }

// Account is the bank's data about an account or a UPI address. Replies omit empty texts.
type Account struct {
	Name   string `json:"name,omitempty"`
	State  string `json:"state,omitempty"` // ACTIVE, DORMANT, FROZEN, CLOSED
	Bank   string `json:"bank,omitempty"`
	Branch string `json:"branch,omitempty"`

	Missing bool     `json:"-"` // the account does not exist
	Flags   []string `json:"-"` // FRAUD, MULE, NEW
}

// DefaultAccount is the account of every number or address that is not in Simulator.Accounts.
var DefaultAccount = Account{Name: "ASHA RAO", State: "ACTIVE", Bank: "Bank of Simulation", Branch: "Main Road"}

// Simulator is a bank in memory.
type Simulator struct {
	providers.Simulator[order]

	// Accounts has the accounts that differ from DefaultAccount, by account number or UPI address.
	Accounts map[string]Account

	deposits int // deposits made for all orders
}

// New returns a simulator without orders.
func New(c providers.Config) *Simulator {
	s := new(Simulator)
	s.Init(c, Faults, func(o *order) any { return s.currentReply(o) })
	s.Routes.HandleFunc("POST /v1/deposits", s.deposit)
	s.Routes.HandleFunc("GET /v1/deposits/{reference}", s.enquire)
	s.Routes.HandleFunc("GET /v1/addresses/{vpa}", s.resolve)
	return s
}

// Deposits returns the number of deposits by reference. It is 0 for an accepted order without a
// deposit. Each deposit after an order's first is lost money.
func (s *Simulator) Deposits() map[string]int {
	return s.Count(func(o *order) int { return o.deposits })
}
