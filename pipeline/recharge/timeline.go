package recharge

import (
	"context"

	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Timeline returns a recharge of an owner, with the steps of its calls, or not_found.
func (s *Service) Timeline(ctx context.Context, o schema.Owner, id string) (r Record, calls schema.ProviderCalls, err error) {
	if !schema.IsID(id) {
		return Record{}, schema.ProviderCalls{}, errNoRecharge
	}
	view := s.DB.View(ctx)
	r, steps, err := transaction.ReadWithSteps(view, id, func() (Record, error) { return s.Find(ctx, o, id) }, func(r *Record) bool { return !r.FinishedAt.IsZero() })
	if err != nil {
		return Record{}, schema.ProviderCalls{}, err
	}
	calls = schema.ProviderCalls{Provider: r.Provider, ProviderRef: r.ProviderRef, Enquiries: r.Tries, Steps: transaction.Timeline(summaryOf(&r, len(steps) > 0), steps)}
	if r.State == schema.RechargePending {
		calls.NextEnquiryAt, err = recharges.NextPoll(view, id)
	}
	return r, calls, err
}

// summaryOf returns the part of a timeline that the row holds. HasSteps means that
// stored steps exist.
func summaryOf(r *Record, hasSteps bool) *transaction.Summary {
	o := &transaction.Summary{Created: r.CreatedAt, Sent: r.SentAt, Act: schema.ActSubmit, Finished: r.FinishedAt, Outcome: schema.AnswerSuccess, Refunded: r.RefundedAt}
	answer := schema.AnswerSucceeded
	if r.State == schema.RechargeFailed {
		o.Outcome, answer = schema.AnswerFailed, schema.AnswerFailed
	}
	// Older recharges have no steps. If one was polled, its last answer is unknown.
	if r.Reference == r.ID && (hasSteps || r.Tries == 0) {
		o.Answer = answer
	}
	return o
}
