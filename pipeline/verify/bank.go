package verify

import (
	"context"
	"errors"
	"net/http"
	"time"

	"vayu/schema"
)

// Order is a verification as a bank is asked for it.
type Order struct {
	// Reference is ours. The same order has the same one however often it is asked
	// for, and a bank must make at most one deposit for each.
	Reference string
	Method    schema.VerificationMethod
	Account   string // of VerifyPennyDrop: 9 to 18 digits
	IFSC      string // of VerifyPennyDrop
	VPA       string // of VerifyUPI, in lower case
	CreatedAt time.Time
	// ProviderRef is what the bank calls it, once it has said so.
	ProviderRef string
	// Expected is the name that is expected; only the sandbox reads it, which must give
	// its magic values for every name. No bank is told.
	Expected string
}

// Outcome is what a bank says of an order.
type Outcome int

// The outcomes. A bank's word is taken as it is only when it is one of these;
// everything else it may do is an error.
const (
	// Pending is that it has the order, and no outcome yet.
	Pending Outcome = iota
	// Found is that the account or address exists. Answer.Account says what it is.
	Found
	// NotFound is that it does not exist.
	NotFound
	// Unknown is that it has never seen the reference.
	Unknown
	// NotMade is that no deposit was made and none will be unless it is asked for
	// retryLater, because somebody behind the bank is away. It may be asked for again.
	NotMade
)

// Answer is a bank's word on an order.
type Answer struct {
	Outcome     Outcome
	Account     Account // of Found
	ProviderRef string
	UTR         string // of a deposit that was made
	// Again asks to be enquired again after so long; 0 for the usual backoff.
	Again time.Duration
}

// Account is what a bank knows of an account.
type Account struct {
	Name    string // registered; empty when the bank does not say
	Bank    string // empty when it does not say
	Branch  string // empty when it does not say
	Status  schema.AccountStatus
	Reasons []string // reasonCodes of why it is flagged as suspicious; empty when it is not
}

// Why a bank can find an account suspicious. A bank's own words are never shown.
const (
	FlaggedByBank      = "flagged_by_bank"     // it does not say why, or in words that nobody has mapped
	ReportedFraud      = "reported_fraud"      // somebody has lost money to it
	MuleAccount        = "mule_account"        // it passes on money of others
	UnderInvestigation = "under_investigation" // an authority has asked about it
	UnusualActivity    = "unusual_activity"
	RecentlyOpened     = "recently_opened"
)

// Reasons is every code of why an account is flagged as suspicious.
var Reasons = []string{FlaggedByBank, ReportedFraud, MuleAccount, UnderInvestigation, UnusualActivity, RecentlyOpened}

// ErrNotSent says that the bank certainly has not got the order, because no
// connection came about. Every other error but ErrNotAsked leaves that open.
var ErrNotSent = errors.New("the bank was not reached")

// ErrNotAsked says that the call was not made because it is not its time, such as
// when a breaker is open: it says nothing about the order, and is made later.
var ErrNotAsked = errors.New("the bank was not asked")

// Bank verifies accounts: a bank itself, or an aggregator. Its methods are called by
// many goroutines at once, with contexts that end after the connection's Timeout.
type Bank interface {
	// Deposit asks for a penny drop.
	Deposit(ctx context.Context, o Order) (Answer, error)
	// Enquire asks what has become of one.
	Enquire(ctx context.Context, o Order) (Answer, error)
	// Resolve asks whose a UPI address is. It moves no money, so it may be asked
	// retryLater. Its outcomes are Found, NotFound and NotMade.
	Resolve(ctx context.Context, o Order) (Answer, error)
}

// Told is what a bank tells by itself.
type Told struct {
	Reference string
	Answer    Answer
}

// Receiver reads what a bank tells by itself, by a request to us.
type Receiver interface {
	// Receive verifies the request's signature over the raw body, and reads it. A
	// *schema.Problem is the reply to what is not genuine or not understood.
	Receive(header http.Header, body []byte, now time.Time) (Told, error)
}

// Connection is a bank as this installation uses it.
type Connection struct {
	Name  string // in the store, in metrics, in the path of its callbacks
	World schema.World
	// Methods are those it has; nil for all.
	Methods []schema.VerificationMethod
	// Timeout bounds one call.
	Timeout time.Duration
	// ResendAfter is how long after it was sent an order that the bank does not know
	// is sent again: not before what is slow on its way has arrived.
	ResendAfter time.Duration
	// Concurrency is how many calls may be under way at once.
	Concurrency int

	Bank     Bank
	Receiver Receiver // nil: it tells nothing by itself
	// Available says whether it is worth asking at the moment; nil for always.
	Available func() bool
}
