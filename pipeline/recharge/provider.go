package recharge

import (
	"context"
	"errors"
	"net/http"
	"time"

	"vayu/schema"
)

// Order is a recharge as a provider is asked for it.
type Order struct {
	// Reference is ours. The same order has the same one however often it is sent,
	// and a provider must carry out each reference at most once.
	Reference string
	Type      schema.RechargeType
	Number    string // ten digits, or the id of a DTH subscriber
	Operator  string // canonical name: Airtel
	Circle    string // canonical name; empty when it is not known
	Amount    schema.Paise
	CreatedAt time.Time
	// ProviderRef is what the provider calls it, once it has said so.
	ProviderRef string
}

// Outcome is what a provider says of an order.
type Outcome int

// The outcomes. A provider's word is taken as it is only when it is one of these;
// everything else it may do is an error.
const (
	// Pending is that it has the order, and no outcome yet.
	Pending Outcome = iota
	// Succeeded is that the subscriber has got it.
	Succeeded
	// Failed is that he has not, and will not. Answer.Code says why.
	Failed
	// NotSubscriber is Failed because the number belongs to another operator.
	NotSubscriber
	// Unknown is that it has never seen the reference.
	Unknown
	// Reversed is that it was carried out and taken back.
	Reversed
)

// Answer is a provider's word on an order.
type Answer struct {
	Outcome     Outcome
	Code        schema.Code // of Failed: invalid_number, insufficient_balance, operator_network_error ...
	ProviderRef string
	Circle      string // when the provider says which
	Reason      string // of Reversed, for people; from a fixed set, never the provider's text
	// Again asks to be enquired again after so long, also after an outcome that is
	// otherwise final; 0 for the usual backoff, or never.
	Again time.Duration
}

// ErrNotSent says that the provider certainly has not got the order, because no
// connection came about. Every other error of Submit but ErrNotAsked leaves that open.
var ErrNotSent = errors.New("the provider was not reached")

// ErrNotAsked says that the call was not made because it is not its time, such as
// when a breaker is open: it says nothing about the order, and is made later.
var ErrNotAsked = errors.New("the provider was not asked")

// Operator carries out recharges: an operator itself, or an aggregator. Its methods
// are called by many goroutines at once, with contexts that end after the
// connection's Timeout.
type Operator interface {
	// Submit asks for an order to be carried out.
	Submit(ctx context.Context, o Order) (Answer, error)
	// Enquire asks what has become of one.
	Enquire(ctx context.Context, o Order) (Answer, error)
}

// Reverser takes recharges back that were carried out. Asked twice for the same
// order it does it once.
type Reverser interface {
	Reverse(ctx context.Context, o Order) (Answer, error)
}

// Subscriber is whose a number is.
type Subscriber struct {
	Operator string // canonical name
	Circle   string // canonical name; empty when it is not known
}

// ErrNoDetection says that a directory cannot be asked whose a number is.
var ErrNoDetection = errors.New("it cannot be asked about numbers")

// Directory knows whose numbers are, ported ones included, and what plans there are.
type Directory interface {
	// Detect returns a zero Subscriber for a number that nobody has. ErrNoDetection is
	// that it is not for such questions; every other error leaves whose the number is
	// open.
	Detect(ctx context.Context, number string) (Subscriber, error)
	// Plans returns what an operator offers in a circle, or everywhere when circle is empty.
	Plans(ctx context.Context, operator, circle string) ([]schema.Plan, error)
}

// Told is what a provider tells by itself.
type Told struct {
	Reference string
	Answer    Answer
}

// Receiver reads what a provider tells by itself, by a request to us.
type Receiver interface {
	// Receive verifies the request's signature over the raw body, and reads it. A
	// *schema.Problem is the reply to what is not genuine or not understood.
	Receive(header http.Header, body []byte, now time.Time) (Told, error)
}

// Connection is a provider as this installation uses it.
type Connection struct {
	Name  string // in the store, in metrics, in the path of its callbacks
	World schema.World
	// Operators are the canonical names of those it serves; nil for all.
	Operators []string
	// Timeout bounds one call.
	Timeout time.Duration
	// ResendAfter is how long after it was sent an order that the provider does not
	// know is sent again: not before what is slow on its way has arrived.
	ResendAfter time.Duration
	// Concurrency is how many calls may be under way at once.
	Concurrency int

	Operator  Operator
	Reverser  Reverser  // nil: it takes nothing back when asked
	Directory Directory // nil: it knows none
	Receiver  Receiver  // nil: it tells nothing by itself
	// Available says whether it is worth asking at the moment; nil for always.
	Available func() bool
}
