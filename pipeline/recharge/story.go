package recharge

import (
	"context"

	"vayu/pipeline/upstream"
	"vayu/schema"
)

// Story returns a recharge of an owner by its id with what providers were asked about
// it; not_found when there is none.
func (s *Service) Story(ctx context.Context, o schema.Owner, id string) (r Record, asked schema.Asked, err error) {
	if !schema.IsID(id) {
		return Record{}, schema.Asked{}, errNoRecharge
	}
	view := s.DB.View(ctx)
	r, steps, err := upstream.Told(view, id, func() (Record, error) { return s.Find(ctx, o, id) }, func(r *Record) bool { return !r.FinishedAt.IsZero() })
	if err != nil {
		return Record{}, schema.Asked{}, err
	}
	asked = schema.Asked{Provider: r.Provider, ProviderRef: r.ProviderRef, Tries: r.Tries, Steps: upstream.Story(outline(&r, len(steps) > 0), steps)}
	if r.State == schema.RechargePending {
		asked.NextLookAt, err = table.NextLook(view, id)
	}
	return r, asked, err
}

// outline is what the row of a recharge says of its story; noted is that it has steps.
func outline(r *Record, noted bool) *upstream.Outline {
	o := &upstream.Outline{Created: r.CreatedAt, Sent: r.SentAt, Act: schema.ActSubmit, Finished: r.FinishedAt, End: schema.AnswerSuccess, Refunded: r.RefundedAt}
	said := schema.AnswerSucceeded
	if r.State == schema.RechargeFailed {
		o.End, said = schema.AnswerFailed, schema.AnswerFailed
	}
	// Without steps, and looked at again, it is from before there were any.
	if r.Reference == r.ID && (noted || r.Tries == 0) {
		o.Said = said
	}
	return o
}
