package schema

// StepAct is an action in the timeline of a recharge or a verification.
type StepAct string

// The values of StepAct. A provider is an operator or a bank.
const (
	ActCreated  StepAct = "created"  // the order is stored
	ActSubmit   StepAct = "submit"   // recharge order sent
	ActDeposit  StepAct = "deposit"  // penny drop requested
	ActResolve  StepAct = "resolve"  // lookup of a UPI address sent
	ActEnquire  StepAct = "enquire"  // status enquiry sent
	ActReverse  StepAct = "reverse"  // reversal requested
	ActCallback StepAct = "callback" // callback of the provider
	ActFile     StepAct = "file"     // entry in a file of the provider
	ActManual   StepAct = "manual"   // manual entry of the provider's answer
	ActSettled  StepAct = "settled"  // final state reached
)

// StepAnswer is the provider's answer to an action, or the action's result.
type StepAnswer string

// The values of StepAnswer.
const (
	AnswerRecorded      StepAnswer = "recorded"       // answer of ActCreated: the order is stored
	AnswerPending       StepAnswer = "pending"        // accepted, not final yet
	AnswerSucceeded     StepAnswer = "succeeded"      // recharge carried out
	AnswerFailed        StepAnswer = "failed"         // recharge failed for good
	AnswerFound         StepAnswer = "found"          // account exists
	AnswerNotFound      StepAnswer = "not_found"      // account does not exist
	AnswerNotMade       StepAnswer = "not_made"       // no deposit or lookup was made; the order may be sent again
	AnswerNotSubscriber StepAnswer = "not_subscriber" // the number belongs to another operator
	AnswerRedirected    StepAnswer = "redirected"     // the number belongs to another operator, which gets the order
	AnswerUnknown       StepAnswer = "unknown"        // the provider does not know the reference
	AnswerReversed      StepAnswer = "reversed"       // recharge carried out and reversed
	AnswerRefused       StepAnswer = "refused"        // reversal refused
	AnswerNotSent       StepAnswer = "not_asked"      // the circuit breaker prevented the call
	AnswerNotConnected  StepAnswer = "not_connected"  // no connection, or the request could not be built
	AnswerNone          StepAnswer = "no_answer"      // timeout or broken connection
	AnswerUnreadable    StepAnswer = "not_understood" // unreadable answer
	AnswerAwaited       StepAnswer = "unanswered"     // no answer recorded: in flight, or lost
	AnswerLateSuccess   StepAnswer = "late_success"   // a recharge that was recorded as failed was carried out
	AnswerLateFailure   StepAnswer = "late_failure"   // a charged recharge was not carried out
	AnswerStray         StepAnswer = "stray"          // a replaced order, or one recorded as not sent, was carried out

	// Answers of the action ActSettled, besides AnswerFailed. They state the final state.
	AnswerSuccess  StepAnswer = "success"
	AnswerRefunded StepAnswer = "refunded"
)

// Step is one entry in the timeline of a recharge or a verification. Successive equal answers to the same kind of
// action are one step. Times are RFC 3339 in UTC, with microseconds, as in the statement of a wallet.
type Step struct {
	At     string     `json:"at"`    // first time of the answer
	Until  string     `json:"until"` // last time of the answer
	Times  int        `json:"times"` // how often the answer came
	Act    StepAct    `json:"act"`
	Answer StepAnswer `json:"answer"`
}

// ProviderCalls is the timeline of an order at its provider.
type ProviderCalls struct {
	Provider      string `json:"provider,omitempty"`     // configured name of the provider; empty for none
	ProviderRef   string `json:"provider_ref,omitempty"` // the provider's id of the order, once known
	Enquiries     int    `json:"tries"`                  // number of calls without a final outcome
	NextEnquiryAt string `json:"next_look_at,omitempty"` // only if the order is pending and no call is in flight
	Steps         []Step `json:"steps"`                  // oldest first
}
