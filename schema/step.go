package schema

// StepAct is an action in the timeline of a recharge or a verification.
type StepAct string

// The acts. A provider is an operator or a bank.
const (
	ActCreated  StepAct = "created"  // it was asked for, and is on disk
	ActSubmit   StepAct = "submit"   // an operator was asked to carry a recharge out
	ActDeposit  StepAct = "deposit"  // a bank was asked for a penny drop
	ActResolve  StepAct = "resolve"  // a bank was asked whose a UPI address is
	ActEnquire  StepAct = "enquire"  // it was asked what has become of it
	ActReverse  StepAct = "reverse"  // an operator was asked to take a recharge back
	ActCallback StepAct = "callback" // the operator or bank spoke by itself
	ActFile     StepAct = "file"     // it stood in a file of the operator's
	ActManual   StepAct = "manual"   // a person has told what the operator said
	ActSettled  StepAct = "settled"  // it came to a final state
)

// StepAnswer is the provider's answer to an act, or the act's result.
type StepAnswer string

// The answers.
const (
	AnswerRecorded      StepAnswer = "recorded"       // of created
	AnswerPending       StepAnswer = "pending"        // it has the order, and no outcome yet
	AnswerSucceeded     StepAnswer = "succeeded"      // a recharge was carried out
	AnswerFailed        StepAnswer = "failed"         // it was not, and will not be
	AnswerFound         StepAnswer = "found"          // an account is there
	AnswerNotFound      StepAnswer = "not_found"      // an account is not there
	AnswerNotMade       StepAnswer = "not_made"       // no deposit was made, and none will be unless it is asked for again
	AnswerNotSubscriber StepAnswer = "not_subscriber" // the number is another operator's
	AnswerRedirected    StepAnswer = "redirected"     // the same, and it goes on with that one
	AnswerUnknown       StepAnswer = "unknown"        // the reference was never seen
	AnswerReversed      StepAnswer = "reversed"       // a recharge was carried out and taken back
	AnswerRefused       StepAnswer = "refused"        // it is not taken back
	AnswerNotAsked      StepAnswer = "not_asked"      // the call was put off, because others have failed
	AnswerNotConnected  StepAnswer = "not_connected"  // no connection came about
	AnswerNone          StepAnswer = "no_answer"      // it took too long, or the connection broke
	AnswerUnreadable    StepAnswer = "not_understood" // an answer came that says nothing to us
	AnswerAwaited       StepAnswer = "unanswered"     // no answer is recorded: it is on its way, or was lost
	AnswerLateSuccess   StepAnswer = "late_success"   // carried out after all, which had failed
	AnswerLateFailure   StepAnswer = "late_failure"   // not carried out after all, which was charged
	AnswerStray         StepAnswer = "stray"          // an order was carried out in whose place there is another, or that was never given

	// Answers of settled.
	AnswerSuccess  StepAnswer = "success"
	AnswerRefunded StepAnswer = "refunded"
)

// Step is one entry of the timeline of a recharge or a verification. Repeated
// equal answers to the same act are one step. Times are RFC 3339 in UTC, with
// microseconds, as in the statement of a wallet.
type Step struct {
	At     string     `json:"at"`    // when the answer came the first
	Until  string     `json:"until"` // and the last time
	Times  int        `json:"times"` // how often
	Act    StepAct    `json:"act"`
	Answer StepAnswer `json:"answer"`
}

// ProviderCalls is the timeline of an order at its provider.
type Asked struct {
	Provider    string `json:"provider,omitempty"`     // configured name of who was asked; empty for nobody
	ProviderRef string `json:"provider_ref,omitempty"` // what it calls it, once it has said so
	Tries       int    `json:"tries"`                  // looks without a final answer
	NextLookAt  string `json:"next_look_at,omitempty"` // while it is pending, and not being asked just now
	Steps       []Step `json:"steps"`                  // in their order
}
