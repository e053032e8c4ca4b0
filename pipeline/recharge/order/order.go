// Package order defines the orders that providers of recharges receive, and their answers.
package order

import (
	"context"
	"errors"
	"slices"
	"time"

	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Order is the request to a provider to carry out a recharge.
type Order struct {
	// Reference is our name of the order; it stays the same when the order is sent again. A
	// provider must carry out at most one order for each reference.
	Reference string
	Type      schema.RechargeType
	Number    string // ten digits, or the id of a DTH subscriber
	Operator  string // canonical name: Airtel
	Circle    string // canonical name; empty if unknown
	Amount    schema.Paise
	CreatedAt time.Time
	// ProviderRef is the provider's own reference, once it is known.
	ProviderRef string
}

// Outcome is the meaning of a provider's reply for an order.
type Outcome int

// These are the outcomes. Any other reply of a provider is an error.
const (
	// Pending means that the provider has the order, without a result yet.
	Pending Outcome = iota
	// Succeeded means that the subscriber got the recharge.
	Succeeded
	// Failed means that the subscriber did not and will not get the recharge. Answer.Code has the reason.
	Failed
	// NotSubscriber means that the order failed, because the number belongs to another operator.
	NotSubscriber
	// Unknown means that the provider does not know the reference.
	Unknown
	// Reversed means that the order was carried out, and undone later.
	Reversed
)

// Answer is the content of a provider's reply or callback about an order.
type Answer struct {
	Outcome     Outcome
	Code        schema.Code // set with Failed: invalid_number, insufficient_balance, operator_network_error ...
	ProviderRef string
	Circle      string // empty if the provider names none
	Reason      string // why the order was reversed, for people; never the provider's text
	// RetryAfter requests another enquiry after this pause, even after a final outcome. If it is 0,
	// the usual backoff applies, and no enquiry follows a final outcome.
	RetryAfter time.Duration
}

// Operator carries out recharges: an operator, or an aggregator. Its methods are called
// concurrently, with contexts that end after the connection's Timeout.
type Operator interface {
	// Submit sends an order. Its error is httpconnector.ErrNotCalled if the circuit breaker
	// prevented the call, and httpconnector.ErrNotSent if the call failed before anything reached
	// the provider. After any other error the provider may have the order.
	Submit(ctx context.Context, o Order) (Answer, error)
	// Enquire returns the state of an order.
	Enquire(ctx context.Context, o Order) (Answer, error)
}

// Reverser reverses successful recharges. Repeated calls for an order must be idempotent.
type Reverser interface {
	Reverse(ctx context.Context, o Order) (Answer, error)
}

// Subscriber is the operator and circle of a number.
type Subscriber struct {
	Operator string // canonical name
	Circle   string // canonical name; empty if unknown
}

// ErrNoDetection means that a directory cannot look up numbers.
var ErrNoDetection = errors.New("the provider has no lookup of numbers")

// Directory looks up the operator of a number, even if the number was ported. It also looks up the plans of operators.
type Directory interface {
	// Detect returns the operator of a number; a zero Subscriber if the number is unassigned. It returns ErrNoDetection
	// if the provider has no such lookup. After any other error the operator is unknown.
	Detect(ctx context.Context, number string) (Subscriber, error)
	// Plans returns the plans of an operator in a circle; in all circles if `circle` is empty.
	Plans(ctx context.Context, operator, circle string) ([]schema.Plan, error)
}

// Connection is a configured provider.
type Connection struct {
	transaction.Link

	// Operators are the canonical names of the operators that the provider serves; nil means all.
	Operators []string
	Operator  Operator
	Reverser  Reverser                     // nil: no reversals on request
	Directory Directory                    // nil: no lookups
	Receiver  transaction.Receiver[Answer] // nil: no callbacks
}

// Serves reports whether orders of an operator may use this connection.
func (c *Connection) Serves(operator string) bool {
	return c.Operators == nil || slices.Contains(c.Operators, operator)
}

// IsDefined reports whether o is one of the outcomes above.
func (o Outcome) IsDefined() bool { return o >= Pending && o <= Reversed }

// String returns the outcome's name in logs and in the audit log.
func (o Outcome) String() string {
	if !o.IsDefined() {
		return "unknown outcome"
	}
	return [...]string{"pending", "succeeded", "failed", "not_subscriber", "unknown", "reversed"}[o]
}
