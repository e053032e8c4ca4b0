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

// PaymentStates is every state.
var PaymentStates = []PaymentState{PaymentPending, PaymentSuccess, PaymentFailed}

// PaymentMethod is how money comes into a wallet.
type PaymentMethod string

// The methods. UPI is what a payment has that names none.
const (
	UPI          PaymentMethod = "upi"
	Card         PaymentMethod = "card"
	NetBanking   PaymentMethod = "netbanking"
	BankTransfer PaymentMethod = "bank_transfer"
)

// PaymentMethods is every method.
var PaymentMethods = []PaymentMethod{UPI, Card, NetBanking, BankTransfer}

// WalletTopup is the purpose of every payment so far.
const WalletTopup = "wallet_topup"

// Payment is a payment as replies show it and, once it is decided, as events tell
// it (CONTRACT 4). Balance is what the wallet could spend right afterwards.
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
	CompletedAt string        `json:"completed_at,omitempty"` // once it is decided
	Error       *Problem      `json:"error,omitempty"`
}

// Subject is what the events about it are about: its id.
func (p Payment) Subject() string { return p.PaymentID }

// WalletEntry is a line of an account's statement: what something has changed of
// what can be spent, and of what is set aside.
type WalletEntry struct {
	Subject   string `json:"subject"` // id of the recharge or payment
	Kind      string `json:"kind"`    // topup, reserve, commit, release or refund
	At        string `json:"at"`      // RFC 3339 in UTC, with microseconds
	Available Paise  `json:"available"`
	Held      Paise  `json:"held"`
}
