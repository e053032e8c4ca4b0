package schema

// Currency is the currency of all amounts.
const Currency = "INR"

// Wallet is the reply to GET /v1/wallet. Amounts are in rupees.
type Wallet struct {
	Status    string `json:"status"`
	Currency  string `json:"currency"`
	Available Paise  `json:"available"` // can be spent
	Held      Paise  `json:"held"`      // reserved for pending recharges
	Balance   Paise  `json:"balance"`   // sum of Available and Held
}

// PaymentState is the state of a payment into a wallet.
type PaymentState string

// The states of a payment.
const (
	PaymentPending PaymentState = "pending"
	PaymentSuccess PaymentState = "success"
	PaymentFailed  PaymentState = "failed"
)

// PaymentStates lists every state of a payment.
var PaymentStates = []PaymentState{PaymentPending, PaymentSuccess, PaymentFailed}

// PaymentMethod is the method of a payment into a wallet.
type PaymentMethod string

// The methods of payment. UPI is the default.
const (
	UPI          PaymentMethod = "upi"
	Card         PaymentMethod = "card"
	NetBanking   PaymentMethod = "netbanking"
	BankTransfer PaymentMethod = "bank_transfer"
)

// PaymentMethods lists every method of payment.
var PaymentMethods = []PaymentMethod{UPI, Card, NetBanking, BankTransfer}

// WalletTopup is the purpose of every payment.
const WalletTopup = "wallet_topup"

// Payment is a payment in replies and, once it is final, in events. Balance is the available amount of the wallet
// directly after the payment. It is absent while the payment is pending.
type Payment struct {
	PaymentID   string        `json:"payment_id"`
	Amount      Paise         `json:"amount"`
	Currency    string        `json:"currency"`
	Method      PaymentMethod `json:"method"`
	Purpose     string        `json:"purpose"` // wallet_topup
	Status      PaymentState  `json:"status"`
	Message     string        `json:"message,omitempty"` // only in replies
	RefID       *string       `json:"ref_id"`
	Balance     *Paise        `json:"balance,omitempty"`
	CreatedAt   string        `json:"created_at,omitempty"`   // only in replies
	CompletedAt string        `json:"completed_at,omitempty"` // only of a final payment
	Error       *Problem      `json:"error,omitempty"`
}

// Subject returns the id of the payment that an event is about.
func (p Payment) Subject() string { return p.PaymentID }

// WalletEntry is a line of an account's statement. It states the changes of the available amount and of the reserved
// amount.
type WalletEntry struct {
	Subject   string `json:"subject"` // id of the recharge or payment
	Kind      string `json:"kind"`    // topup, reserve, commit, release or refund
	At        string `json:"at"`      // RFC 3339 in UTC, with microseconds
	Available Paise  `json:"available"`
	Held      Paise  `json:"held"`
}
