package recharge

import (
	"context"
	"errors"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
)

// Do creates a recharge and waits for its final state, at most for the duration `wait`. If the new recharge is then
// pending, Do appends the event recharge.pending. If `wait` is 0, the event is appended when a provider call ends
// without a final outcome. Unless Request.WaitFull is set, Do returns early when the next status enquiry is due after
// the end of the wait.
//
// `replayed` means that an earlier request created the same recharge with this ref_id; then Do waits only with
// WaitFull. If the ref_id belongs to another recharge, the error is duplicate_ref_id. For a batch item, the error is
// duplicate_ref_id for every existing recharge, unless the item itself created it. If a request is rejected and nothing
// is recorded, the error is a *schema.Problem.
func (s *Service) Do(ctx context.Context, r request.Request, wait time.Duration) (rec record.Record, replayed bool, err error) {
	rec, replayed, err = transaction.CreateOnce(
		func() (record.Record, bool, error) { return s.findByRef(ctx, &r) },
		func() (record.Record, error) { return s.createAndWait(ctx, &r, wait) })
	if replayed && r.WaitFull {
		rec = s.AwaitReplayed(ctx, rec, wait, never)
	}
	return rec, replayed, err
}

// never is a condition for Await: no update ends the wait early.
func never(transaction.Update[record.Record]) bool { return false }

// selectIDByRef runs for every new recharge and rarely finds a row. It reads only the id, because the database prepares
// such a statement faster than one with all columns.
const selectIDByRef = "SELECT id FROM recharge WHERE account_id = $1 AND mode = $2 AND ref_id = $3"

// findByRef returns the existing recharge with the ref_id of a request.
func (s *Service) findByRef(ctx context.Context, r *request.Request) (record.Record, bool, error) {
	view := s.DB.View(ctx)
	id, found, err := sqlstore.One(view, sqlstore.Scalar[string], selectIDByRef, r.Owner.Account, r.Owner.World.String(), r.RefID)
	if err != nil || !found {
		return record.Record{}, false, err
	}
	rec, found, err := record.Table.Get(view, id)
	if err != nil || !found {
		return record.Record{}, false, errors.Join(err, settle.ErrMissingRow(found))
	}
	same := rec.Type == r.Type && s.sameNumber(&rec, r.Number) && rec.RequestedOperator == r.RequestedOperator && rec.Amount == r.Amount
	return s.Repeated(rec, r.Item, same)
}
