package recharge

import (
	"context"

	"vayu/pipeline/upstream"
	"vayu/schema"
)

// Timeline returns a recharge of an owner by its id with the steps of its calls; not_found
// if there is none.
func (s *Service) Story(ctx context.Context, o schema.Owner, id string) (r Record, calls schema.Asked, err error) {
	if !schema.IsID(id) {
		return Record{}, schema.Asked{}, errNoRecharge
	}
	view := s.DB.View(ctx)
	r, steps, err := upstream.Told(view, id, func() (Record, error) { return s.Find(ctx, o, id) }, func(r *Record) bool { return !r.FinishedAt.IsZero() })
	if err != nil {
		return Record{}, schema.Asked{}, err
	}
	calls = schema.Asked{Provider: r.Provider, ProviderRef: r.ProviderRef, Tries: r.Tries, Steps: upstream.Story(summaryOf(&r, len(steps) > 0), steps)}
	if r.State == schema.RechargePending {
		calls.NextLookAt, err = table.NextLook(view, id)
	}
	return r, calls, err
}

// summaryOf returns the part of a timeline that the row holds. HasSteps means that
// stored steps exist.
func summaryOf(r *Record, hasSteps bool) *upstream.Outline {
	o := &upstream.Outline{Created: r.CreatedAt, Sent: r.SentAt, Act: schema.ActSubmit, Finished: r.FinishedAt, End: schema.AnswerSuccess, Refunded: r.RefundedAt}
	answer := schema.AnswerSucceeded
	if r.State == schema.RechargeFailed {
		o.End, answer = schema.AnswerFailed, schema.AnswerFailed
	}
	// A polled recharge without steps predates the steps, so its last answer is unknown.
	if r.Reference == r.ID && (hasSteps || r.Tries == 0) {
		o.Said = answer
	}
	return o
}
