package schema

// Currency is the only currency.
const Currency = "INR"

// Wallet is the reply of GET /v1/wallet, in rupees.
type Wallet struct {
	Status    string `json:"status"`
	Currency  string `json:"currency"`
	Available Paise  `json:"available"` // can be spent
	Held      Paise  `json:"held"`      // reserved for pending recharges
	Balance   Paise  `json:"balance"`   // available and held
}

// PaymentState is the progress of a payment into a wallet.
type PaymentState string

// The states.
const (
	PaymentPending PaymentState = "pending"
	PaymentSuccess PaymentState = "success"
	PaymentFailed  PaymentState = "failed"
)

// PaymentStates lists every state.
var PaymentStates = []PaymentState{PaymentPending, PaymentSuccess, PaymentFailed}

// PaymentMethod is the method of a payment into a wallet.
type PaymentMethod string

// The methods. UPI is the default.
const (
	UPI          PaymentMethod = "upi"
	Card         PaymentMethod = "card"
	NetBanking   PaymentMethod = "netbanking"
	BankTransfer PaymentMethod = "bank_transfer"
)

// PaymentMethods lists every method.
var PaymentMethods = []PaymentMethod{UPI, Card, NetBanking, BankTransfer}

// WalletTopup is the purpose of every payment.
const WalletTopup = "wallet_topup"

// Payment is a payment in replies and, once it is final, in events. Balance is the
// wallet's available amount right afterwards.
type Payment struct {
	PaymentID   string        `json:"payment_id"`
	Amount      Paise         `json:"amount"`
	Currency    string        `json:"currency"`
	Method      PaymentMethod `json:"method"`
	Purpose     string        `json:"purpose"` // wallet_topup
	Status      PaymentState  `json:"status"`
	Message     string        `json:"message,omitempty"` // replies only
	RefID       *string       `json:"ref_id"`
	Balance     *Paise        `json:"balance,omitempty"`
	CreatedAt   string        `json:"created_at,omitempty"`   // replies only
	CompletedAt string        `json:"completed_at,omitempty"` // once final
	Error       *Problem      `json:"error,omitempty"`
}

// Subject returns the id of what an event with this payment is about: the payment.
func (p Payment) Subject() string { return p.PaymentID }

// WalletEntry is a line of an account's statement: the changes of the available
// and the reserved amount.
type WalletEntry struct {
	Subject   string `json:"subject"` // id of the recharge or payment
	Kind      string `json:"kind"`    // topup, reserve, commit, release or refund
	At        string `json:"at"`      // RFC 3339 in UTC, with microseconds
	Available Paise  `json:"available"`
	Held      Paise  `json:"held"`
}
