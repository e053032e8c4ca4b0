// Package bank defines the interface that a bank, or an aggregator of banks, must implement. It
// also defines the types of verification requests (orders), answers and callbacks.
package bank

import (
	"context"
	"slices"
	"time"

	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Order is a verification as it is sent to a bank.
type Order struct {
	// Reference is our identifier of the order. A repeated order has the same reference. A bank
	// must make at most one deposit for each reference.
	Reference string
	Method    schema.VerificationMethod
	Account   string // for VerifyPennyDrop: 9 to 18 digits
	IFSC      string // for VerifyPennyDrop
	VPA       string // for VerifyUPI, in lower case
	CreatedAt time.Time
	// ProviderRef is the bank's own reference, once known.
	ProviderRef string
	// Expected is the name that the client expects. It is never sent to a bank. Only the simulated bank of the
	// sandbox reads it, to choose a registered name that matches it or differs from it.
	Expected string
}

// Outcome is the meaning of a bank's answer for an order.
type Outcome int

// These are the values of Outcome. Any other value is an error.
const (
	// Pending means that the bank has the order and no outcome yet.
	Pending Outcome = iota
	// Found means that the account or address exists; Answer.Account describes it.
	Found
	// NotFound means that the account or address does not exist.
	NotFound
	// Unknown means that the bank has no order with this reference.
	Unknown
	// NotMade means that no deposit or lookup was made, because a system behind the bank is
	// unavailable. The order may be sent again.
	NotMade
)

// IsDefined reports whether o is one of the outcomes above.
func (o Outcome) IsDefined() bool { return o >= Pending && o <= NotMade }

// String returns the name used in metrics and logs.
func (o Outcome) String() string {
	if !o.IsDefined() {
		return "unknown outcome"
	}
	return [...]string{"pending", "found", "not_found", "unknown", "not_made"}[o]
}

// Answer is a bank's answer about an order.
type Answer struct {
	Outcome     Outcome
	Account     Account // set with Found
	ProviderRef string
	UTR         string // unique transaction reference of the deposit, if one was made
	// RetryAfter is the pause that the bank requests before the next enquiry. If it is 0, the usual backoff applies.
	RetryAfter time.Duration
}

// Account describes an account as the bank reports it.
type Account struct {
	Name    string // registered name; empty if not reported
	Bank    string // empty if not reported
	Branch  string // empty if not reported
	Status  schema.AccountStatus
	Reasons []string // codes of suspicion; empty if the account is not flagged
}

// These codes say why a bank flags an account as suspicious. The bank's own texts are never shown.
const (
	FlaggedByBank      = "flagged_by_bank"     // the bank gives no reason, or one that is not mapped
	ReportedFraud      = "reported_fraud"      // a fraud that used the account was reported
	MuleAccount        = "mule_account"        // the account receives and forwards money of others
	UnderInvestigation = "under_investigation" // an authority enquired about the account
	UnusualActivity    = "unusual_activity"
	RecentlyOpened     = "recently_opened"
)

// Reasons lists all codes of suspicion.
var Reasons = []string{FlaggedByBank, ReportedFraud, MuleAccount, UnderInvestigation, UnusualActivity, RecentlyOpened}

// ReasonCodes returns a bank's codes of suspicion without duplicates. An unknown code becomes FlaggedByBank.
func ReasonCodes(reasons []string) []string {
	out := []string{}
	for _, code := range reasons {
		if !slices.Contains(Reasons, code) {
			code = FlaggedByBank
		}
		if !slices.Contains(out, code) {
			out = append(out, code)
		}
	}
	return out
}

// Bank verifies accounts, directly or through an aggregator. Its methods are called concurrently, with contexts that
// end after the connection's Timeout. An error is httpconnector.ErrNotCalled if the circuit breaker prevented the call,
// and httpconnector.ErrNotSent if the call failed before anything reached the bank. After any other error, the bank may
// have received the order.
type Bank interface {
	// Deposit requests a penny drop: a deposit of one rupee, to which the bank replies with the
	// name of the account's holder.
	Deposit(ctx context.Context, o Order) (Answer, error)
	// Enquire requests the state of a penny drop that was requested before.
	Enquire(ctx context.Context, o Order) (Answer, error)
	// Resolve looks up the holder of a UPI address. It moves no money and may be repeated. Its
	// outcomes are Found, NotFound and NotMade.
	Resolve(ctx context.Context, o Order) (Answer, error)
}

// Connection is a bank with the settings of this installation.
type Connection struct {
	transaction.Link

	Methods  []schema.VerificationMethod // the supported methods; nil for all
	Bank     Bank
	Receiver transaction.Receiver[Answer] // nil if the bank sends no callbacks
}

// Serves reports whether the connection supports a method.
func (c *Connection) Serves(method schema.VerificationMethod) bool {
	return c.Methods == nil || slices.Contains(c.Methods, method)
}
