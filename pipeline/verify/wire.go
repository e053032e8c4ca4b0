package verify

import "vayu/schema"

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
