package recharge

import (
	"context"
	"fmt"
	"strings"

	"vayu/internal/workqueue"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Settle applies a provider's result from a callback or a file, by compare-and-set. It is
// idempotent. A result that contradicts a final state raises an alarm and changes no state.
// The argument by names the source for the audit log. The error is not_found for an unknown
// reference.
func (s *Service) Settle(ctx context.Context, world schema.World, provider, reference string, a Answer, by string) (Record, error) {
	if a.Outcome < Pending || a.Outcome > Reversed {
		return Record{}, fmt.Errorf("settling %q: %w: %d", reference, transaction.ErrOutcome, a.Outcome)
	}
	r, err := s.byReference(ctx, world, provider, reference)
	if err != nil {
		return Record{}, err
	}
	res := providerResult{Answer: a, call: callNone, reference: reference, calledAt: s.Now(), by: by}
	if a.Outcome == NotSubscriber && r.redetects() && r.Reference == reference {
		res.reroute, res.err = s.redetect(ctx, &r, nil)
	}
	out, err := s.settle(ctx, &r, &res, workqueue.Lease{})
	if to := res.reroute; to != nil {
		switch going := err == nil && out.transition == redirect; {
		case to.lease.Token == "" && going:
			to.WakeAt(out.due)
		case to.lease.Token == "":
		case going:
			go s.runJob(job{connection: to.connection, rec: out.Record, call: callSubmit, lease: to.lease})
		default:
			to.Release(r.Batch.Batch != "")
		}
	}
	if err == nil && !out.due.IsZero() && out.transition != redirect {
		if conn := s.connectionOf(world, out.Provider); conn != nil {
			conn.WakeAt(out.due)
		}
	}
	return out.Record, err
}

// selectReplaced finds a recharge by the reference of a replaced order, or by its id if it
// was never sent.
const selectReplaced = "SELECT " + columns + " FROM recharge WHERE id = $1 AND mode = $2 AND reference <> id AND (first_provider = $3 OR reference = '')"

// byReference finds the recharge for a provider's reference, even if the order was
// replaced or never sent.
func (s *Service) byReference(ctx context.Context, world schema.World, provider, reference string) (Record, error) {
	if !schema.IsID(strings.TrimSuffix(reference, secondOrder)) {
		return Record{}, errNoRecharge
	}
	view := s.DB.View(ctx)
	r, found, err := recharges.One(view, selectByReference, world.String(), provider, reference)
	if err != nil || found {
		return r, err
	}
	r, found, err = recharges.One(view, selectReplaced, reference, world.String(), provider)
	if err == nil && !found {
		err = errNoRecharge
	}
	return r, err
}
