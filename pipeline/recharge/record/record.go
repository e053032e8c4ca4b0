// Package record defines a stored recharge, and how replies, events and timelines show it.
package record

import (
	"database/sql"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// Record is a stored recharge.
type Record struct {
	transaction.Base

	State             schema.RechargeState
	Type              schema.RechargeType
	Number            string // masked when Digest is not nil
	Digest            []byte // keyed hash of the number, once it is masked
	RequestedOperator string
	Operator          string
	Circle            string
	Detection         string // lookup, series or ""
	Amount            schema.Paise
	Reference         string
	PendingEventSent  bool
	ErrorMessage      string
	Alarm             string
	RefundID          string
	RefundReason      string
	RefundedAt        time.Time // zero unless refunded
	ResolvedAt        time.Time // when the alarm was resolved; zero for an open alarm or none
}

// Status returns the state as a string. It is for package transaction.
func (r *Record) Status() string { return string(r.State) }

// OperatorName returns the operator that carries out a recharge. If it is unknown, it returns the requested operator or
// [request.Auto].
func OperatorName(r *Record) string {
	switch {
	case r.Operator != "":
		return r.Operator
	case r.RequestedOperator != "":
		return r.RequestedOperator
	default:
		return request.Auto
	}
}

// SecondOrder is the suffix of the reference of a second order, which replaced the first order of a recharge.
const SecondOrder = "-2"

// These are the prefixes of ids. A ULID follows the prefix.
const (
	idPrefix     = "txn_"
	refundPrefix = "rfd_"
)

// NewID returns the id of a new recharge.
func NewID(now time.Time) string { return idPrefix + ulid.MustNewDefault(now).String() }

// NewRefundID returns the id of a new refund.
func NewRefundID(now time.Time) string { return refundPrefix + ulid.MustNewDefault(now).String() }

// Table describes the table `recharge` for package transaction.
var Table = &transaction.Table[Record, *Record]{
	Name: "recharge", Columns: Columns, Amount: "amount", Prefix: idPrefix, Unindexed: string(schema.RechargeSuccess), Scan: scanRecord, Missing: ErrMissing,
}

// Columns lists the columns of the table in the order in which scanRecord reads them.
const Columns = `id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount, provider, reference, provider_ref,
	sent, sent_at, tries, told_pending, error_code, error_message, alarm, refund_id, refund_reason, batch_id, batch_index, created_at, finished_at, refunded_at, resolved_at, number_digest`

func scanRecord(row sqlstore.Scanner) (r Record, err error) {
	var mode string
	var sent, pendingSent, created int64
	var sentAt, finished, refunded, resolved sql.NullInt64
	err = row.Scan(
		&r.ID, &r.Owner.Account, &mode, &r.RefID, &r.State, &r.Type, &r.Number, &r.RequestedOperator, &r.Operator, &r.Circle, &r.Detection, &r.Amount,
		&r.Provider, &r.Reference, &r.ProviderRef, &sent, &sentAt, &r.Tries, &pendingSent, &r.ErrorCode, &r.ErrorMessage, &r.Alarm,
		&r.RefundID, &r.RefundReason, &r.Batch.Batch, &r.Batch.Index, &created, &finished, &refunded, &resolved, &r.Digest)
	r.Owner.World = schema.WorldOf(mode)
	r.Sent, r.PendingEventSent = sent != 0, pendingSent != 0
	r.SentAt, r.CreatedAt, r.FinishedAt = sqlstore.FromMicros(sentAt), time.UnixMicro(created).UTC(), sqlstore.FromMicros(finished)
	r.RefundedAt, r.ResolvedAt = sqlstore.FromMicros(refunded), sqlstore.FromMicros(resolved)
	return r, err
}

const selectByReference = "SELECT " + Columns + " FROM recharge WHERE mode = $1 AND provider = $2 AND reference = $3"

// ErrMissing is the error for an unknown recharge.
var ErrMissing = schema.NewProblem(schema.NotFound, "", "There is no such recharge.")

// selectReplaced finds a recharge by the reference of its first order, which is the recharge's id. It finds only a
// recharge whose first order was replaced, or whose order was never sent (the column reference is then empty).
const selectReplaced = "SELECT " + Columns + " FROM recharge WHERE id = $1 AND mode = $2 AND reference <> id AND (first_provider = $3 OR reference = '')"

// ByReference finds the recharge of an order by the order's reference, even if the order was replaced or never sent.
func ByReference(q sqlstore.Querier, world schema.World, provider, reference string) (Record, error) {
	if !schema.IsID(strings.TrimSuffix(reference, SecondOrder)) {
		return Record{}, ErrMissing
	}
	r, found, err := Table.One(q, selectByReference, world.String(), provider, reference)
	if err != nil || found {
		return r, err
	}
	r, found, err = Table.One(q, selectReplaced, reference, world.String(), provider)
	if err == nil && !found {
		err = ErrMissing
	}
	return r, err
}
