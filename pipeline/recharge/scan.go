package recharge

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// columns are in the order in which scanRecord reads them.
const columns = `id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount, provider, reference, provider_ref,
	sent, sent_at, tries, told_pending, error_code, error_message, alarm, refund_id, refund_reason, batch_id, batch_index, created_at, finished_at, refunded_at, number_digest`

func scanRecord(row sqlstore.Scanner) (r Record, err error) {
	var mode string
	var sent, pendingSent, created int64
	var sentAt, finished, refunded sql.NullInt64
	err = row.Scan(
		&r.ID, &r.Owner.Account, &mode, &r.RefID, &r.State, &r.Type, &r.Number, &r.RequestedOperator, &r.Operator, &r.Circle, &r.Detection, &r.Amount,
		&r.Provider, &r.Reference, &r.ProviderRef, &sent, &sentAt, &r.Tries, &pendingSent, &r.ErrorCode, &r.ErrorMessage, &r.Alarm,
		&r.RefundID, &r.RefundReason, &r.Batch.Batch, &r.Batch.Index, &created, &finished, &refunded, &r.Digest)
	r.Owner.World = schema.WorldOf(mode)
	r.Sent, r.PendingEventSent = sent != 0, pendingSent != 0
	r.SentAt, r.CreatedAt, r.FinishedAt, r.RefundedAt = sqlstore.FromMicros(sentAt), time.UnixMicro(created).UTC(), sqlstore.FromMicros(finished), sqlstore.FromMicros(refunded)
	return r, err
}

// Queries of one recharge.
const (
	selectByID        = "SELECT " + columns + " FROM recharge WHERE id = $1"
	selectByReference = "SELECT " + columns + " FROM recharge WHERE mode = $1 AND provider = $2 AND reference = $3"
)

// queryOne reads a recharge; false if there is none.
func queryOne(q sqlstore.Querier, query string, args ...any) (Record, bool, error) {
	r, err := scanRecord(q.QueryRow(query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, false, nil
	}
	return r, err == nil, err
}

var errNoRecharge = schema.NewProblem(schema.NotFound, "", "There is no such recharge.")

// Find returns a recharge of an owner by its id; not_found if there is none.
func (s *Service) Find(ctx context.Context, o schema.Owner, id string) (Record, error) {
	if !schema.IsID(id) {
		return Record{}, errNoRecharge
	}
	r, found, err := queryOne(s.DB.View(ctx), selectByID, id)
	switch {
	case err != nil:
		return Record{}, err
	case !found || r.Owner != o:
		return Record{}, errNoRecharge
	}
	return r, nil
}
