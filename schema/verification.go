package schema

// VerificationMethod is the method by which a bank account is verified.
type VerificationMethod string

// The methods of verification.
const (
	VerifyPennyDrop VerificationMethod = "penny_drop" // a deposit of one rupee; the bank replies with the name
	VerifyUPI       VerificationMethod = "upi"        // a lookup of a UPI address; no money moves
)

// VerificationState is the state of a verification. It goes from pending to success or failed.
type VerificationState string

// The states of a verification.
const (
	VerificationPending VerificationState = "pending"
	VerificationSuccess VerificationState = "success" // the account exists, in any status
	VerificationFailed  VerificationState = "failed"  // the account does not exist, or Vayu gave up without a result
)

// VerificationStates lists every state of a verification.
var VerificationStates = []VerificationState{VerificationPending, VerificationSuccess, VerificationFailed}

// AccountStatus is the status of a bank account.
type AccountStatus string

// The statuses of a bank account.
const (
	AccountActive  AccountStatus = "active"
	AccountDormant AccountStatus = "dormant"
	AccountFrozen  AccountStatus = "frozen"
	AccountClosed  AccountStatus = "closed"
)

// AccountStatuses lists every status of a bank account.
var AccountStatuses = []AccountStatus{AccountActive, AccountDormant, AccountFrozen, AccountClosed}

// NameMatch is the similarity of the expected name and the name at the bank.
type NameMatch string

// The values of NameMatch.
const (
	NameExact   NameMatch = "exact"   // the same words
	NamePartial NameMatch = "partial" // not exact, but similar enough for the tolerance of the request
	NameNone    NameMatch = "none"    // not similar enough, or no name was expected
)

// Verification is a verification in replies. Times are RFC 3339 in UTC.
type Verification struct {
	Status   VerificationState `json:"status"`
	Verified bool              `json:"verified"`

	*Beneficiary // only of a successful verification

	VerificationID string             `json:"verification_id"`
	Method         VerificationMethod `json:"method"`
	AccountNumber  string             `json:"account_number,omitempty"` // masked except the last four digits
	IFSC           string             `json:"ifsc,omitempty"`
	VPA            string             `json:"vpa,omitempty"` // masked
	UTR            string             `json:"utr,omitempty"` // the bank's reference of a deposit, once known
	Cached         bool               `json:"cached,omitempty"`
	Error          *Problem           `json:"error,omitempty"` // only of a failed verification
	Message        string             `json:"message,omitempty"`
	RefID          string             `json:"ref_id,omitempty"`
	BatchID        string             `json:"batch_id,omitempty"`
	CreatedAt      string             `json:"created_at,omitempty"`
	VerifiedAt     string             `json:"verified_at,omitempty"` // only of a successful verification
	FailedAt       string             `json:"failed_at,omitempty"`
}

// Beneficiary is a bank's data about an existing account, and the name match.
type Beneficiary struct {
	NameMatch         NameMatch     `json:"name_match"`
	BeneficiaryName   string        `json:"beneficiary_name"`
	Bank              string        `json:"bank"`
	Branch            string        `json:"branch"` // empty if unknown
	AccountStatus     AccountStatus `json:"account_status"`
	NameMatchScore    int           `json:"name_match_score"` // 0 to 100
	Suspicious        bool          `json:"suspicious"`
	SuspiciousReasons []string      `json:"suspicious_reasons"`
}

// BulkCompleted is the data of the event verification.bulk.completed.
type BulkCompleted struct {
	BatchID    string `json:"batch_id"`
	Total      int    `json:"total"`
	Successful int    `json:"successful"`
	Failed     int    `json:"failed"`
	ResultsURL string `json:"results_url"`
	ExpiresAt  string `json:"expires_at"`
}

// Subject returns the id of the batch that the event is about.
func (e BulkCompleted) Subject() string { return e.BatchID }

// VerificationEvent is the data of verification.completed and .failed events.
type VerificationEvent struct {
	VerificationID string             `json:"verification_id"`
	Method         VerificationMethod `json:"method"`
	Status         VerificationState  `json:"status"`
	Verified       bool               `json:"verified"`

	*Beneficiary // only in verification.completed

	AccountNumber string   `json:"account_number,omitempty"` // masked except the last four digits
	IFSC          string   `json:"ifsc,omitempty"`
	VPA           string   `json:"vpa,omitempty"` // masked
	UTR           string   `json:"utr,omitempty"`
	Error         *Problem `json:"error,omitempty"` // only in verification.failed
	RefID         string   `json:"ref_id,omitempty"`
	VerifiedAt    string   `json:"verified_at,omitempty"`
	FailedAt      string   `json:"failed_at,omitempty"`
}

// Subject returns the id of the verification that the event is about.
func (e VerificationEvent) Subject() string { return e.VerificationID }

// VerificationDetail is a verification with its timeline. It is the reply to GET /v1/bank/verify/{id}?view=detail.
type VerificationDetail struct {
	Verification
	ProviderCalls
}
