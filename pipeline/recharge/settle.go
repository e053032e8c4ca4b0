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
	if a.Outcome < order.Pending || a.Outcome > order.Reversed {
		return record.Record{}, fmt.Errorf("settling %q: %w: %d", reference, transaction.ErrOutcome, a.Outcome)
	}
	r, err := record.ByReference(s.DB.View(ctx), world, provider, reference)
	if err != nil {
		return record.Record{}, err
	}
	res := settle.Result{Answer: a, Call: settle.CallNone, Reference: reference, CalledAt: s.Now(), By: by}
	if a.Outcome == order.NotSubscriber && r.Redetects() && r.Reference == reference {
		res.Reroute, res.Err = s.redetect(ctx, &r, nil)
	}
	out, err := s.settler.Settle(ctx, &r, &res, workqueue.Lease{})
	if to := res.Reroute; to != nil {
		switch going := err == nil && out.Transition == settle.Redirect; {
		case to.Lease.Token == "" && going:
			to.WakeAt(out.Due)
		case to.Lease.Token == "":
		case going:
			go s.runJob(job{connection: s.connectionOf(world, to.Provider), rec: out.Record, call: settle.CallSubmit, lease: to.Lease})
		default:
			to.Release(r.Batch.Batch != "")
		}
	}
	if err == nil && !out.Due.IsZero() && out.Transition != settle.Redirect {
		if conn := s.connectionOf(world, out.Provider); conn != nil {
			conn.WakeAt(out.Due)
		}
	}
	return out.Record, err
}
