package wallet

import (
	"net/http"

	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/schema"
)

// failureText is the message to clients about a failed payment.
const failureText = "The bank could not carry the payment out. Nothing was paid."

// eventBody returns a payment as the body of the event about its decision.
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
		out.Message = p.Amount.Rupees() + " is on its way; payment.succeeded or payment.failed will follow."
	}
	return out
}

// reply returns the response to a request for payment p. replayed means that p existed before.
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
