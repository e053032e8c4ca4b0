package wallet

import (
	"database/sql"
	"fmt"
	"net/http"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Payment is a stored payment into a wallet.
type Payment struct {
	ID          string
	Owner       schema.Owner
	RefID       string // the client's reference; empty for none
	Method      schema.PaymentMethod
	Amount      schema.Paise
	State       schema.PaymentState
	ErrorCode   schema.Code  // set if failed
	Note        string       // reference of the decision, such as a bank's reference of a transfer
	Balance     schema.Paise // available balance after the decision; zero while pending
	CreatedAt   time.Time
	CompletedAt time.Time // zero while pending
}

const idPrefix = "pay_"

const paymentColumns = "id, account_id, mode, ref_id, method, amount, state, error_code, note, balance, created_at, completed_at"

const selectPayment = "SELECT " + paymentColumns + " FROM payment"

func scanPayment(row sqlstore.Scanner) (*Payment, error) {
	var p Payment
	var mode string
	var ref sql.NullString
	var balance, completed sql.NullInt64
	var created int64
	err := row.Scan(&p.ID, &p.Owner.Account, &mode, &ref, &p.Method, &p.Amount, &p.State, &p.ErrorCode, &p.Note, &balance, &created, &completed)
	if err != nil {
		return nil, err
	}
	p.Owner.World, p.RefID, p.Balance = schema.WorldOf(mode), ref.String, schema.Paise(balance.Int64)
	p.CreatedAt = time.UnixMicro(created).UTC()
	if completed.Valid {
		p.CompletedAt = time.UnixMicro(completed.Int64).UTC()
	}
	return &p, nil
}

// request is a validated request for a payment.
type request struct {
	owner  schema.Owner
	ref    string // empty for none
	method schema.PaymentMethod
	amount schema.Paise
}

const insertPayment = `INSERT INTO payment (id, account_id, mode, ref_id, method, amount, state, error_code, note, created_at)
	VALUES ($1, $2, $3, $4, $5, $6, 'pending', '', '', $7) ON CONFLICT (account_id, mode, ref_id) DO NOTHING`

// insertPending stores a pending payment and returns its id. If the account has another payment
// with the same reference, it stores nothing and returns "".
func insertPending(tx *sqlstore.Tx, now time.Time, r request) (id string, err error) {
	id = idPrefix + ulid.MustNewDefault(now).String()
	n, err := tx.Exec(insertPayment, id, r.owner.Account, r.owner.World.String(), sql.NullString{String: r.ref, Valid: r.ref != ""},
		string(r.method), int64(r.amount), now.UnixMicro())
	if err != nil {
		return "", fmt.Errorf("inserting a payment: %w", err)
	}
	if n == 0 {
		return "", nil
	}
	return id, nil
}

func errNoPayment() error {
	return schema.NewProblem(schema.NotFound, "id", "There is no such payment.")
}

// byID returns a payment of any account. The error is a not_found problem if there is none.
func byID(q sqlstore.Querier, id string) (*Payment, error) {
	if !schema.IsID(id) {
		return nil, errNoPayment()
	}
	p, found, err := sqlstore.One(q, scanPayment, selectPayment+" WHERE id = $1", id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading a payment: %w", err)
	case !found:
		return nil, errNoPayment()
	}
	return p, nil
}

// decision is the final outcome of a payment, with a note.
type decision struct {
	succeeded bool
	note      string
}

const (
	// decideRow changes only a pending payment, so that two decisions cannot both succeed.
	decideRow = `UPDATE payment SET state = $2, error_code = $3, note = $4, completed_at = $5 WHERE id = $1 AND state = 'pending'
		RETURNING ` + paymentColumns
	keepBalance = "UPDATE payment SET balance = $2 WHERE id = $1"
)

// decide sets the outcome of a pending payment, and appends its event. A success also credits the
// wallet. decide returns nil if no pending payment has the id.
func (s *Service) decide(tx *sqlstore.Tx, now time.Time, id string, v decision) (*Payment, error) {
	to, code, event := schema.PaymentSuccess, schema.Code(""), schema.EventPaymentSucceeded
	if !v.succeeded {
		to, code, event = schema.PaymentFailed, schema.BankNetworkError, schema.EventPaymentFailed
	}
	p, found, err := sqlstore.One(tx, scanPayment, decideRow, id, string(to), string(code), v.note, now.UnixMicro())
	if err != nil || !found {
		return nil, err
	}
	if v.succeeded {
		p.Balance, err = topup(tx, now, p.Owner, p.ID, p.Amount)
	} else {
		var b Balance
		b, err = BalanceOf(tx, p.Owner)
		p.Balance = b.Available
	}
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(keepBalance, p.ID, int64(p.Balance)); err != nil {
		return nil, fmt.Errorf("storing the balance after %s: %w", p.ID, err)
	}
	if _, err := s.Events.Append(tx, p.Owner.Account, p.Owner.World, event, p.eventBody()); err != nil {
		return nil, fmt.Errorf("appending the event of payment %s: %w", p.ID, err)
	}
	return p, nil
}

// failureText is the message to clients about a failed payment.
const failureText = "The bank could not carry the payment out. Nothing was paid."

// eventBody returns the body of the event that reports the payment's success or failure. Replies contain it, too.
func (p *Payment) eventBody() schema.Payment {
	out := schema.Payment{
		PaymentID: p.ID, Amount: p.Amount, Currency: schema.Currency, Method: p.Method, Purpose: schema.WalletTopup, Status: p.State,
	}
	if p.RefID != "" {
		out.RefID = &p.RefID
	}
	if p.State == schema.PaymentPending {
		return out
	}
	out.Balance, out.CompletedAt = &p.Balance, schema.FormatTime(p.CompletedAt)
	if p.State == schema.PaymentFailed {
		out.Error = schema.NewProblem(p.ErrorCode, "", failureText)
		out.Error.Retryable = false // the same payment has been decided
	}
	return out
}

// toWire returns a payment as replies of the API represent it.
func (p *Payment) toWire() schema.Payment {
	out := p.eventBody()
	out.CreatedAt = schema.FormatTime(p.CreatedAt)
	switch p.State {
	case schema.PaymentSuccess:
		out.Message = p.Amount.Rupees() + " is in the wallet."
	case schema.PaymentFailed:
		out.Message = failureText
	case schema.PaymentPending:
		out.Message = p.Amount.Rupees() + " is pending. payment.succeeded or payment.failed will follow."
	}
	return out
}

// reply returns the response to a request for payment p. `replayed` means that p existed before.
func (p *Payment) reply(c *httpapi.Call, replayed bool) httpapi.Response {
	out := p.toWire()
	resp := httpapi.Response{Status: http.StatusOK, Location: topupPath + "/" + p.ID, Replayed: replayed}
	switch p.State {
	case schema.PaymentPending:
		resp.Status = http.StatusAccepted
	case schema.PaymentFailed:
		resp.Status = p.ErrorCode.Status()
		out.Error.RequestID = c.ID
	case schema.PaymentSuccess:
	}
	resp.Value = out
	return resp
}

// auditEntry returns the audit row about the last change of a payment.
func (p *Payment) auditEntry() audit.Entry {
	action := "payment." + string(p.State)
	if p.State == schema.PaymentPending {
		action = "payment.create"
	}
	detail := map[string]any{"amount": p.Amount, "method": p.Method}
	if p.RefID != "" {
		detail["ref_id"] = p.RefID
	}
	if p.Note != "" {
		detail["note"] = p.Note
	}
	return audit.Entry{Account: p.Owner.Account, World: p.Owner.World, Action: action, Subject: p.ID, Detail: detail}
}

// Personal lists the data that is erased with an account: the client's references of payments.
// The rest of a payment, such as the note with a bank's reference, belongs to the ledger.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{{
		Table: "payment", Key: []string{"id"}, Set: "ref_id = NULL", From: "payment t WHERE t.account_id = $1 AND t.ref_id IS NOT NULL",
	}}
}
