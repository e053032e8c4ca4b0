package schema

// Currency is the only one there is.
const Currency = "INR"

// Wallet is the reply of GET /v1/wallet, in rupees.
type Wallet struct {
	Status    string `json:"status"`
	Currency  string `json:"currency"`
	Available Paise  `json:"available"` // can be spent
	Held      Paise  `json:"held"`      // set aside for recharges that are pending
	Balance   Paise  `json:"balance"`   // both together
}

// PaymentState is where a payment stands.
type PaymentState string

// The states.
const (
	PaymentPending PaymentState = "pending"
	PaymentSuccess PaymentState = "success"
	PaymentFailed  PaymentState = "failed"
)

// Payment is a payment as replies show it and, once it is decided, as events tell
// it (CONTRACT 4). Balance is what the wallet could spend right afterwards.
type Payment struct {
	PaymentID   string       `json:"payment_id"`
	Amount      Paise        `json:"amount"`
	Currency    string       `json:"currency"`
	Method      string       `json:"method"`
	Purpose     string       `json:"purpose"` // wallet_topup
	Status      PaymentState `json:"status"`
	RefID       *string      `json:"ref_id"`
	Balance     *Paise       `json:"balance,omitempty"`
	CreatedAt   string       `json:"created_at,omitempty"`   // replies only
	CompletedAt string       `json:"completed_at,omitempty"` // once it is decided
	Error       *Problem     `json:"error,omitempty"`
}
