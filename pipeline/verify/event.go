package verify

import (
	"fmt"

	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// failureTexts are the messages of failures for clients. Clients never get a bank's own text.
var failureTexts = map[schema.Code]string{
	schema.AccountNotFound:  "The bank has no such account.",
	schema.VPANotFound:      "There is no such UPI address.",
	schema.BankTimeout:      "The bank has not answered in time.",
	schema.BankNetworkError: "The bank could not be reached.",
}

// failure returns a failed verification's error for clients.
func failure(r *Record) *schema.Problem {
	return &schema.Problem{Code: r.ErrorCode, Message: failureTexts[r.ErrorCode]}
}

// eventOf returns the event of a verification in a final state.
func eventOf(r *Record) (schema.EventType, *schema.VerificationEvent) {
	e := &schema.VerificationEvent{
		VerificationID: r.ID, Method: r.Method, Status: r.State, Verified: r.Verified, IFSC: r.IFSC, UTR: r.UTR, RefID: r.RefID,
	}
	e.AccountNumber, e.VPA = targets(r)
	if r.State == schema.VerificationFailed {
		e.Error, e.FailedAt = failure(r), schema.FormatTime(r.FinishedAt)
		return schema.EventVerificationFailed, e
	}
	found := r.Beneficiary
	e.Beneficiary, e.VerifiedAt = &found, schema.FormatTime(r.FinishedAt)
	return schema.EventVerificationCompleted, e
}

// bulkCompleted appends the event for a completed batch to the outbox.
func (s *Service) bulkCompleted(tx *sqlstore.Tx, done *item.Finished) error {
	_, err := s.Events.Append(tx, done.Owner.Account, done.Owner.World, schema.EventVerificationBulkCompleted, schema.BulkCompleted{
		BatchID: done.ID, Total: done.Total, Successful: done.Successful, Failed: done.Failed,
		ResultsURL: s.resultsURL(done.ID), ExpiresAt: schema.FormatTime(done.At.Add(resultsKept)),
	})
	if err != nil {
		return fmt.Errorf("appending the event of batch %s: %w", done.ID, err)
	}
	return nil
}

// targets returns the masked account number or address; one of them is empty.
func targets(r *Record) (account, vpa string) {
	if r.Method == schema.VerifyUPI {
		return "", r.Target
	}
	return r.Target, ""
}

// toWire returns a verification in the form of replies.
func toWire(r *Record) schema.Verification {
	out := schema.Verification{
		Status: r.State, Verified: r.Verified, VerificationID: r.ID, Method: r.Method, IFSC: r.IFSC, UTR: r.UTR, Cached: r.AnsweredBy != "",
		RefID: r.RefID, BatchID: r.Batch.Batch, CreatedAt: schema.FormatTime(r.CreatedAt),
	}
	out.AccountNumber, out.VPA = targets(r)
	switch r.State {
	case schema.VerificationSuccess:
		found := r.Beneficiary
		out.Beneficiary, out.VerifiedAt = &found, schema.FormatTime(r.FinishedAt)
	case schema.VerificationFailed:
		out.Error, out.FailedAt = failure(r), schema.FormatTime(r.FinishedAt)
	case schema.VerificationPending:
		out.Message = "The bank has not answered yet. The verification continues; its result will be sent to webhooks and shown here."
	}
	return out
}
