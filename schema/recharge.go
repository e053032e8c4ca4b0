package schema

// RechargeType is the service that is recharged: prepaid mobile or DTH television.
type RechargeType string

// The types of recharges.
const (
	Prepaid RechargeType = "prepaid"
	DTH     RechargeType = "dth"
)

// RechargeState is the state of a recharge. It goes from pending to success or failed, and from success to refunded.
type RechargeState string

// The states of a recharge.
const (
	RechargePending  RechargeState = "pending"
	RechargeSuccess  RechargeState = "success"
	RechargeFailed   RechargeState = "failed"
	RechargeRefunded RechargeState = "refunded"
)

// RechargeStates lists every state of a recharge.
var RechargeStates = []RechargeState{RechargePending, RechargeSuccess, RechargeFailed, RechargeRefunded}

// Recharge is a recharge in replies. Times are RFC 3339 in UTC.
type Recharge struct {
	Status        RechargeState `json:"status"`
	TransactionID string        `json:"transaction_id"`
	Operator      string        `json:"operator"`
	Circle        string        `json:"circle"`
	Amount        Paise         `json:"amount"`
	Message       string        `json:"message"`
	RefID         string        `json:"ref_id"`
	Mobile        string        `json:"mobile"`
	Type          RechargeType  `json:"type"`
	Detection     *Detection    `json:"detection,omitempty"` // only if the operator was detected
	Error         *Problem      `json:"error,omitempty"`     // only of a failed recharge
	BatchID       string        `json:"batch_id,omitempty"`
	RefundID      string        `json:"refund_id,omitempty"`
	Reason        string        `json:"reason,omitempty"` // reason of the refund
	CreatedAt     string        `json:"created_at"`
	CompletedAt   string        `json:"completed_at,omitempty"` // of a successful or refunded recharge
	FailedAt      string        `json:"failed_at,omitempty"`    // of a failed recharge
	RefundedAt    string        `json:"refunded_at,omitempty"`  // of a refunded recharge
}

// RechargeDetail is a recharge with its timeline. It is the reply to GET /v1/recharge/{id}?view=detail.
type RechargeDetail struct {
	Recharge
	ProviderCalls

	Alarm string `json:"alarm,omitempty"` // late_success or late_failure: a provider contradicts the recorded result
}

// Detection describes how the operator and circle of a number were detected.
type Detection struct {
	Source     string `json:"source"`     // lookup (covers ported numbers) or series (the number's first operator)
	Confidence string `json:"confidence"` // high, or low for series
}

// RechargeEvent is the data of the recharge.* events. The comment at a field names the events that have the field. A
// field without a comment is in every event.
type RechargeEvent struct {
	TransactionID string        `json:"transaction_id"`
	Mobile        string        `json:"mobile"`
	Operator      string        `json:"operator"`
	Circle        string        `json:"circle"`
	Amount        Paise         `json:"amount"`
	Type          RechargeType  `json:"type"`
	Status        RechargeState `json:"status"`
	RefID         string        `json:"ref_id"`
	BatchID       string        `json:"batch_id,omitempty"`     // every event, if the recharge belongs to a batch
	CreatedAt     string        `json:"created_at,omitempty"`   // recharge.pending
	CompletedAt   string        `json:"completed_at,omitempty"` // recharge.completed
	Charged       *bool         `json:"charged,omitempty"`      // recharge.failed; always false
	Error         *Problem      `json:"error,omitempty"`        // recharge.failed
	FailedAt      string        `json:"failed_at,omitempty"`    // recharge.failed
	RefundID      string        `json:"refund_id,omitempty"`    // recharge.refunded
	Reason        string        `json:"reason,omitempty"`       // recharge.refunded
	RefundedAt    string        `json:"refunded_at,omitempty"`  // recharge.refunded
}

// Subject returns the id of the recharge that the event is about.
func (e RechargeEvent) Subject() string { return e.TransactionID }

// Plan is an offer of an operator for recharges.
type Plan struct {
	Amount      Paise  `json:"amount"`
	Days        int    `json:"validity_days"` // 0 when it is not known
	Description string `json:"description"`
}

// OperatorEntry is an operator that supports recharges.
type OperatorEntry struct {
	Name      string       `json:"name"`
	Type      RechargeType `json:"type"`
	Aliases   []string     `json:"aliases"`
	MinAmount Paise        `json:"min_amount"` // smallest amount of one recharge, in rupees
	MaxAmount Paise        `json:"max_amount"`
	Available bool         `json:"available"` // at least one provider of the operator can be called now
}

// Operators is the reply to GET /v1/operators.
type Operators struct {
	Status string          `json:"status"`
	Data   []OperatorEntry `json:"data"`
}

// Detected is the reply to GET /v1/operators/detect.
type Detected struct {
	Status    string    `json:"status"`
	Mobile    string    `json:"mobile"` // ten digits
	Operator  string    `json:"operator"`
	Circle    string    `json:"circle"` // empty if unknown
	Detection Detection `json:"detection"`
}

// Plans is the reply to GET /v1/plans.
type Plans struct {
	Status   string `json:"status"`
	Operator string `json:"operator"`
	Circle   string `json:"circle"` // empty if the query has none
	Data     []Plan `json:"data"`
}

// CallbackAccepted is the reply to a provider's callback.
type CallbackAccepted struct {
	Status string `json:"status"`
}
