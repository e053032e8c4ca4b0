package recharge

import (
	"context"
	"fmt"

	"vayu/internal/access"
	"vayu/internal/failpoint"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// Refund asks the provider to take a recharge back that has gone through, and gives
// its amount to the account when that is certain: at once, or later. Asked again it
// returns how it stands. A *schema.Problem says why it cannot be. It waits for the
// provider as long as ctx lasts, and at most for one call.
func (s *Service) Refund(ctx context.Context, o schema.Owner, id, reason string, by httpapi.Who) (Record, error) {
	return s.refund(ctx, o, id, refundWanted{reason: reason, by: by})
}

// refundWanted is the request for a refund.
type refundWanted struct {
	reason string
	by     httpapi.Who
	once   *access.Once // its Idempotency-Key; nil for none
}

func (s *Service) refund(ctx context.Context, o schema.Owner, id string, wish refundWanted) (Record, error) {
	r, err := s.Find(ctx, o, id)
	if err != nil {
		return Record{}, err
	}
	l := s.lineOf(o.World, r.Provider)
	if err := refundable(&r, l); err != nil || r.State == schema.RechargeRefunded || r.RefundID != "" {
		return r, err
	}
	done := make(chan settled, 1)
	j := job{line: l, call: reverse, done: done}
	slot := l.Take(r.Batch.Batch != "")
	if slot {
		j.lease = s.calls.Lease(l.Line)
	}
	r, wanted, err := s.want(ctx, &r, wish, j.lease)
	if err != nil || !wanted {
		if slot {
			l.Give(r.Batch.Batch != "")
		}
		return r, err
	}
	failpoint.Point(failpoint.RefundWanted)
	if !slot {
		l.Due(s.Now())
		return r, nil
	}
	j.rec = r
	s.start(j)
	select {
	case out := <-done:
		if out.verdict == refuse {
			return Record{}, schema.Refuse(schema.InvalidRequest, "id", "The operator refuses to take this recharge back.")
		}
		return out.Record, nil
	case <-ctx.Done(): // it goes on without whoever has asked
		return r, nil
	case <-s.waits.Ended():
		return r, nil
	}
}

// errMasked refuses the refund of a recharge whose number is masked: the operator needs
// the number.
var errMasked = schema.Refuse(schema.InvalidRequest, "id", "This recharge is too old for a refund: its number is masked.")

// refundable says why a recharge cannot be refunded; nil when it can, or is.
func refundable(r *Record, l *line) error {
	switch {
	case r.State == schema.RechargePending:
		return schema.Refuse(schema.InvalidRequest, "id", "This recharge is pending: nothing was charged yet.")
	case r.State == schema.RechargeFailed:
		return schema.Refuse(schema.InvalidRequest, "id", "This recharge has failed: nothing was charged.")
	case r.State == schema.RechargeSuccess && r.RefundID == "" && r.Digest != nil:
		return errMasked
	case r.State == schema.RechargeSuccess && r.RefundID == "" && (l == nil || l.Reverser == nil):
		return schema.Refuse(schema.Forbidden, "", "This operator takes nothing back on request; a recharge that he reverses by himself is refunded.")
	}
	return nil
}

const wantRow = `UPDATE recharge SET refund_id = $2, refund_reason = $3, due_at = $4, token = $5, tries = 0
	WHERE id = $1 AND state = 'success' AND refund_id = '' AND number_digest IS NULL RETURNING ` + columns

// want notes that a refund is wanted; false when it was before, or when the recharge
// is refunded by now.
func (s *Service) want(ctx context.Context, seen *Record, wish refundWanted, own upstream.Lease) (r Record, wanted bool, err error) {
	now := s.Now()
	due, refund := now, newRefundID(now)
	if own.Token != "" {
		due = own.Until
	}
	r = *seen
	err = s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		found, ok, err := one(tx, wantRow, seen.ID, refund, wish.reason, due.UnixMicro(), own.Token)
		if err != nil {
			return err
		}
		wanted = ok
		if !ok {
			found, _, err = one(tx, selectByID, seen.ID)
			r = found
			if err == nil && r.State == schema.RechargeSuccess && r.RefundID == "" {
				return errMasked
			}
			return err
		}
		r = found
		if _, err := wish.once.Claim(tx, now, path+"/"+r.ID); err != nil {
			return err
		}
		return access.Audit(tx, now, access.Entry{
			Account: r.Owner.Account, World: r.Owner.World, Actor: wish.by.Key, Action: "recharge.refund", Subject: r.ID,
			Request: wish.by.Request, Client: wish.by.Client,
			Detail: map[string]any{"amount": r.Amount, "refund_id": r.RefundID, "reason": wish.reason},
		})
	})
	if err != nil {
		return *seen, false, fmt.Errorf("asking for the refund of %s: %w", seen.ID, err)
	}
	return r, wanted, nil
}
