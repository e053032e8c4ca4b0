// Package record defines a stored recharge, and how replies, events and timelines show it.
package record

import (
	"database/sql"
	"fmt"
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

// SecondOrder is the suffix of the reference of a second order, which replaced the first order of a recharge.
const SecondOrder = "-2"

// Redetects reports whether the operator may be looked up again after the provider has rejected the number. The recharge
// must be pending and prepaid, without an operator named by the client and without a second order.
func (r *Record) Redetects() bool {
	return r.State == schema.RechargePending && r.RequestedOperator == "" && r.Reference == r.ID && r.Type == schema.Prepaid
}

// Prefixes of ids; a ULID follows.
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
	Name: "recharge", Columns: Columns, Prefix: idPrefix, Unindexed: string(schema.RechargeSuccess), Scan: scanRecord, Missing: ErrMissing,
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

// selectReplaced finds a recharge by the reference of an order that was replaced. It also finds a recharge whose order
// was never sent, by the recharge's id.
const selectReplaced = "SELECT " + Columns + " FROM recharge WHERE id = $1 AND mode = $2 AND reference <> id AND (first_provider = $3 OR reference = '')"

// ByReference finds the recharge for a provider's reference, even if the order was
// replaced or never sent.
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

// failureTexts are the messages of failures for clients. Clients never get a provider's own
// text.
var failureTexts = map[schema.Code]string{
	schema.InvalidNumber:        "The operator has no subscriber of this number. " + NothingCharged,
	schema.InsufficientBalance:  "The balance does not cover the amount. " + NothingCharged,
	schema.OperatorNetworkError: "The operator's network did not carry the recharge out. " + NothingCharged,
	schema.OperatorUnavailable:  "The operator does not take recharges at the moment. " + NothingCharged,
	schema.AmountNotSupported:   "The operator does not take this amount. " + NothingCharged,
	schema.InvalidAmount:        "The operator does not take this amount. " + NothingCharged,
}

// NothingCharged is the last sentence of each failure's message.
const NothingCharged = "Nothing was charged."

// InvalidNumberTexts are the messages about invalid numbers. They describe valid numbers.
var InvalidNumberTexts = map[schema.RechargeType]string{
	schema.Prepaid: "This is no mobile number of India: it has ten digits, of which the first is 6 to 9.",
	schema.DTH:     "This is no id of a DTH subscriber: it has 8 to 12 digits.",
}

// numberField returns the name of the request's field for the recharged number.
func numberField(t schema.RechargeType) string {
	if t == schema.DTH {
		return "subscriber_id"
	}
	return "mobile"
}

// failure returns the error of a failed recharge for clients. The error is never retryable, because
// a repeated request with the same ref_id returns the same recharge.
func failure(r *Record) *schema.Problem {
	p := &schema.Problem{Code: r.ErrorCode, Message: r.ErrorMessage}
	if r.ErrorCode == schema.InvalidNumber {
		p.Field = numberField(r.Type)
	}
	return p
}

// FailureText returns the message of a failure for clients; "" if the code has none.
func FailureText(code schema.Code) string { return failureTexts[code] }

// AppendEvent stores the event of the recharge's state, in the transaction that changes the
// state.
func AppendEvent(tx *sqlstore.Tx, events transaction.Events, r *Record) error {
	typ, data := eventOf(r)
	if _, err := events.Append(tx, r.Owner.Account, r.Owner.World, typ, data); err != nil {
		return fmt.Errorf("storing the event of %s: %w", r.ID, err)
	}
	return nil
}

// eventOf returns the event of a recharge's state. Its number is masked, because events are stored
// and pass through Kafka. A delivery has the clear number if its subscription requests that.
func eventOf(r *Record) (schema.EventType, *schema.RechargeEvent) {
	e := &schema.RechargeEvent{
		TransactionID: r.ID, Mobile: schema.MaskNumber(r.Number), Operator: OperatorName(r), Circle: r.Circle, Amount: r.Amount, Type: r.Type, Status: r.State, RefID: r.RefID,
		BatchID: r.Batch.Batch,
	}
	switch r.State {
	case schema.RechargeSuccess:
		e.CompletedAt = schema.FormatTime(r.FinishedAt)
		return schema.EventRechargeCompleted, e
	case schema.RechargeFailed:
		charged := false
		e.Charged, e.Error, e.FailedAt = &charged, failure(r), schema.FormatTime(r.FinishedAt)
		return schema.EventRechargeFailed, e
	case schema.RechargeRefunded:
		e.RefundID, e.Reason, e.RefundedAt = r.RefundID, r.RefundReason, schema.FormatTime(r.RefundedAt)
		return schema.EventRechargeRefunded, e
	default:
		e.CreatedAt = schema.FormatTime(r.CreatedAt)
		return schema.EventRechargePending, e
	}
}

// Values of the column "detection".
const (
	SourceLookup = "lookup"
	SourceSeries = "series"
)

// Reply returns a recharge as replies show it.
func Reply(r *Record) schema.Recharge {
	out := schema.Recharge{
		Status: r.State, TransactionID: r.ID, Operator: OperatorName(r), Circle: r.Circle, Amount: r.Amount, Message: message(r),
		RefID: r.RefID, Mobile: r.Number, Type: r.Type, BatchID: r.Batch.Batch,
		RefundID: r.RefundID, Reason: r.RefundReason, CreatedAt: schema.FormatTime(r.CreatedAt),
	}
	if r.Detection != "" {
		out.Detection = DetectionOf(r.Detection)
	}
	switch r.State {
	case schema.RechargeFailed:
		out.Error = failure(r)
		out.FailedAt = schema.FormatTime(r.FinishedAt)
	case schema.RechargeRefunded:
		out.RefundedAt = schema.FormatTime(r.RefundedAt)
		fallthrough
	case schema.RechargeSuccess:
		out.CompletedAt = schema.FormatTime(r.FinishedAt)
	case schema.RechargePending:
	}
	return out
}

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

// DetectionOf returns the detection with its confidence. A series identifies the first operator of
// a number, but the number may have been ported since.
func DetectionOf(source string) *schema.Detection {
	confidence := "high"
	if source == SourceSeries {
		confidence = "low"
	}
	return &schema.Detection{Source: source, Confidence: confidence}
}

// message describes the state of a recharge for people.
func message(r *Record) string {
	subject := "Recharge of " + r.Amount.Rupees() + " for " + r.Number
	switch {
	case r.Operator != "" && r.Circle != "":
		subject += " (" + r.Operator + ", " + r.Circle + ")"
	case r.Operator != "":
		subject += " (" + r.Operator + ")"
	}
	switch {
	case r.State == schema.RechargeFailed:
		return r.ErrorMessage
	case r.State == schema.RechargeRefunded:
		return subject + " was reversed, and its amount is back in the wallet."
	case r.State == schema.RechargePending:
		return subject + " is waiting for the operator's confirmation."
	case r.RefundID != "":
		return subject + " was successful; its refund is under way."
	default:
		return subject + " was successful."
	}
}

// Summary returns the part of a timeline that the row of a recharge holds. hasSteps
// means that the timeline has stored steps.
func Summary(r *Record, hasSteps bool) *transaction.Summary {
	o := &transaction.Summary{Created: r.CreatedAt, Sent: r.SentAt, Act: schema.ActSubmit, Finished: r.FinishedAt, Outcome: schema.AnswerSuccess, Refunded: r.RefundedAt}
	answer := schema.AnswerSucceeded
	if r.State == schema.RechargeFailed {
		o.Outcome, answer = schema.AnswerFailed, schema.AnswerFailed
	}
	// A recharge stored by an older version has no steps. If it was polled, the row does not show
	// which answer came last.
	if r.Reference == r.ID && (hasSteps || r.Tries == 0) {
		o.Answer = answer
	}
	return o
}
