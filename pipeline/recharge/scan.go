package recharge

import (
	"database/sql"
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

// selectByReference selects a recharge by the reference of its order.
const selectByReference = "SELECT " + columns + " FROM recharge WHERE mode = $1 AND provider = $2 AND reference = $3"

var errNoRecharge = schema.NewProblem(schema.NotFound, "", "There is no such recharge.")
