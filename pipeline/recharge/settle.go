package recharge

import (
	"context"
	"fmt"

	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Settle applies a provider's result from a callback, a file or a person, by compare-and-set. It is
// idempotent. A result that contradicts a success or failure raises an alarm and changes no state.
// `by` is the source in the audit log. The error is not_found for an unknown reference.
func (s *Service) Settle(ctx context.Context, world schema.World, provider, reference string, a order.Answer, by string) (record.Record, error) {
	if !a.Outcome.IsDefined() {
		return record.Record{}, fmt.Errorf("settling %q: %w: %d", reference, transaction.ErrOutcome, a.Outcome)
	}
	r, err := record.ByReference(s.DB.View(ctx), world, provider, reference)
	if err != nil {
		return record.Record{}, err
	}
	res := settle.Result{Answer: a, Call: settle.CallNone, Reference: reference, CalledAt: s.Now(), By: by}
	s.redetect(ctx, &r, &res)
	out, err := s.settler.Settle(ctx, &r, &res, workqueue.Lease{})
	if err != nil {
		out = settle.Effect{Record: r}
	}
	s.reroute(s.Queue.CallContext(), &res, &out)
	if l := s.Core.Link(world, out.Provider); l != nil && !out.Due.IsZero() && out.Transition != settle.Redirect {
		l.Pool.WakeAt(out.Due)
	}
	return out.Record, err
}
