package recharge

import (
	"context"
	"fmt"
	"strings"

	"vayu/pipeline/upstream"
	"vayu/schema"
)

// Settle acts on a provider's word on a recharge that came by itself, or in a file:
// by compare-and-set, so that repeating it changes nothing. What contradicts an
// outcome that is final raises an alarm and changes no state. By is who says so, for
// the audit log. It is not_found for a reference that nobody has.
func (s *Service) Settle(ctx context.Context, world schema.World, provider, reference string, a Answer, by string) (Record, error) {
	if a.Outcome < Pending || a.Outcome > Reversed {
		return Record{}, fmt.Errorf("settling %q: %w: %d", reference, errOutcome, a.Outcome)
	}
	r, err := s.byReference(ctx, world, provider, reference)
	if err != nil {
		return Record{}, err
	}
	w := word{Answer: a, call: told, reference: reference, asked: s.Now(), by: by}
	if a.Outcome == NotSubscriber && r.redetects() && r.Reference == reference {
		w.onto, w.err = s.redetect(ctx, &r, nil)
	}
	out, err := s.settle(ctx, &r, &w, upstream.Lease{})
	if to := w.onto; to != nil {
		switch going := err == nil && out.verdict == redirect; {
		case to.lease.Token == "" && going:
			to.Due(out.due)
		case to.lease.Token == "":
		case going:
			s.start(job{line: to.line, rec: out.Record, call: submit, lease: to.lease})
		default:
			to.Give(r.Batch.Batch != "")
		}
	}
	if err == nil && !out.due.IsZero() && out.verdict != redirect {
		if l := s.lineOf(world, out.Provider); l != nil {
			l.Due(out.due)
		}
	}
	return out.Record, err
}

// selectReplaced asks for a recharge by the reference of an order that went to a
// provider before another took its place, or that nobody was ever given.
const selectReplaced = "SELECT " + columns + " FROM recharge WHERE id = $1 AND mode = $2 AND reference <> id AND (first_provider = $3 OR reference = '')"

// byReference finds the recharge that a provider calls by a reference: also one that
// goes on under another since, or was never sent.
func (s *Service) byReference(ctx context.Context, world schema.World, provider, reference string) (Record, error) {
	if !schema.IsID(strings.TrimSuffix(reference, secondOrder)) {
		return Record{}, errNoRecharge
	}
	view := s.DB.View(ctx)
	r, found, err := one(view, selectByReference, world.String(), provider, reference)
	if err != nil || found {
		return r, err
	}
	r, found, err = one(view, selectReplaced, reference, world.String(), provider)
	if err == nil && !found {
		err = errNoRecharge
	}
	return r, err
}
