package recharge

import (
	"context"
	"errors"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/numbering"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// Do creates a recharge and waits for its final state, at most for the duration `wait`. It returns early if the next
// status enquiry is due only after the wait, unless Request.WaitFull is set. If the recharge is still pending after a
// wait, Do appends recharge.pending, unless a provider call without a final outcome has already appended this event.
//
// `replayed` means that an earlier request created the same recharge with this ref_id. Then Do waits only if WaitFull
// is set. If the ref_id belongs to another recharge, the error is duplicate_ref_id. A batch item gets that error for
// every existing recharge that it did not create itself. If Do rejects a request and records nothing, the error is a
// *schema.Problem.
func (s *Service) Do(ctx context.Context, r request.Request, wait time.Duration) (rec record.Record, replayed bool, err error) {
	rec, replayed, err = transaction.CreateOnce(
		func() (record.Record, bool, error) { return s.findByRef(ctx, &r) },
		func() (record.Record, error) { return s.createAndWait(ctx, &r, wait) })
	if replayed && r.WaitFull {
		rec = s.Core.AwaitReplayed(ctx, rec, wait, never)
	}
	return rec, replayed, err
}

// never is a condition for Await that no update meets, so that the wait does not end early.
func never(transaction.Update[record.Record]) bool { return false }

// selectIDByRef runs for every new recharge and rarely finds a row. It reads only the id, because the database prepares
// such a statement faster than one with all columns.
const selectIDByRef = "SELECT id FROM recharge WHERE account_id = $1 AND mode = $2 AND ref_id = $3"

// findByRef returns the recharge that has the ref_id of a request. It fails if the request is for another recharge.
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
	return s.Core.Repeated(rec, r.Item, same)
}

// createAndWait creates a recharge whose ref_id is new. It waits for the final state, at most for the duration `wait`,
// and returns early as [Service.Do] describes.
func (s *Service) createAndWait(ctx context.Context, r *request.Request, wait time.Duration) (record.Record, error) {
	d, err := s.draft(ctx, r)
	if err != nil {
		return record.Record{}, err
	}
	updates, remove := s.Waiters.Add(d.ID)
	defer remove()
	end := s.Now().Add(wait) // before create starts the call
	made, err := s.create(ctx, r, d)
	if err != nil || made.State != schema.RechargePending || wait <= 0 {
		return made, err
	}
	made = s.Core.Await(ctx, made, updates, wait, func(u transaction.Update[record.Record]) bool { return !r.WaitFull && u.Retry.After(end) })
	if made.State == schema.RechargePending && !made.PendingEventSent {
		made = s.sendPendingEvent(ctx, made)
	}
	return made, nil
}

// draft is a recharge before it is stored.
type draft struct {
	record.Record

	connection *order.Connection // nil if the number is invalid
	lease      workqueue.Lease   // lease of the slot; zero if there is no slot
}

// draft chooses the connection for a request, and tries to acquire a slot. It returns a *schema.Problem if no recharge
// can be created. If the number is invalid, the returned draft is in state failed.
func (s *Service) draft(ctx context.Context, r *request.Request) (*draft, error) {
	d := &draft{Record: record.Record{
		Base: transaction.Base{Owner: r.Owner, RefID: r.RefID}, State: schema.RechargePending, Type: r.Type, Number: r.Number,
		RequestedOperator: r.RequestedOperator, Operator: r.RequestedOperator, Amount: r.Amount,
	}}
	if r.Item != nil {
		d.Batch = *r.Item
	}
	if r.Valid {
		if err := s.chooseConnection(ctx, d); err != nil {
			return nil, err
		}
		d.lease = s.Core.Acquire(ctx, &d.connection.Link, &d.Record, defaultWait)
		d.Provider = d.connection.Name
	}
	now := sqlstore.TruncateMicros(s.Now()) // read after the lookup, which may have taken seconds
	d.ID, d.CreatedAt = record.NewID(now), now
	d.Reference = d.ID
	if !r.Valid {
		d.failed(schema.InvalidNumber, record.InvalidNumberTexts[d.Type]+" "+record.NothingCharged)
	}
	return d, nil
}

// chooseConnection sets the operator, the circle if it is known, and the connection. It fails if the operator is not
// detected or has no available connection.
func (s *Service) chooseConnection(ctx context.Context, d *draft) error {
	switch {
	case d.RequestedOperator != "":
		if d.Type == schema.Prepaid {
			_, d.Circle, _ = numbering.Series(d.Number)
		}
	case d.Type != schema.Prepaid:
		return errAuto
	default:
		sub, source, ok := s.detect(ctx, d.Owner.World, d.Number)
		if !ok {
			return errNotDetected
		}
		d.Operator, d.Circle, d.Detection = sub.Operator, sub.Circle, source
	}
	conn, available := s.route(d.Owner.World, d.Operator)
	switch {
	case conn == nil:
		return errUnserved(d.Operator)
	case !available:
		return errUnavailable
	}
	d.connection = conn
	return nil
}

// fieldOperator is the Problem.Field of lasting problems with the operator. A batch item with such a problem is not
// retried. [errUnavailable] is temporary, so it has no Field.
const fieldOperator = "operator"

// errUnserved returns the problem for an operator that no connection serves. The problem lasts until the configuration
// has a connection for the operator.
func errUnserved(operator string) *schema.Problem {
	return &schema.Problem{
		Code: schema.OperatorUnavailable, Field: fieldOperator, Message: "No provider is connected for recharges of " + operator + ". Nothing was recorded.",
	}
}

var (
	errNotDetected = schema.NewProblem(schema.OperatorNotDetected, fieldOperator, "The operator of this number could not be detected. Send the name of the operator.")
	errAuto        = schema.NewProblem(schema.OperatorNotDetected, fieldOperator, "The operator auto requires the type prepaid. Send the name of the operator.")
	errUnavailable = schema.NewProblem(schema.OperatorUnavailable, "", "The operator is unavailable at the moment. Nothing was recorded. Retry later.")
)

// failed marks a recharge as failed before any provider call.
func (d *draft) failed(code schema.Code, text string) {
	d.State, d.ErrorCode, d.ErrorMessage, d.FinishedAt = schema.RechargeFailed, code, text, d.CreatedAt
	d.Provider, d.Reference, d.Sent, d.SentAt, d.lease = "", "", false, time.Time{}, workqueue.Lease{}
}

// create stores a recharge and reserves its amount. If the draft has a slot, create also starts the submit call.
func (s *Service) create(ctx context.Context, r *request.Request, d *draft) (record.Record, error) {
	var made draft
	err := s.DB.Update(sqlstore.WithGroup(ctx, record.Table.Name, d.Owner), func(tx *sqlstore.Tx) error {
		made = *d
		return s.insert(tx, r, &made)
	})
	if s.Core.Inserted(&made.Record, s.Core.Link(d.Owner.World, d.Provider), d.lease, err) {
		go s.runJob(job{Connection: d.connection, rec: made.Record, call: settle.CallSubmit, lease: d.lease, calls: tracing.WithSpanFrom(s.Queue.CallContext(), ctx)})
	}
	if err != nil {
		return record.Record{}, err
	}
	return made.Record, nil
}

const insertRow = `INSERT INTO recharge (id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount, provider, reference,
		provider_ref, sent, sent_at, tries, due_at, token, told_pending, error_code, error_message, alarm, refund_id, refund_reason,
		batch_id, batch_index, created_at, finished_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, '', $15, $16, 0, $17, $18, 0, $19, $20, '', '', '', $21, $22, $23, $24)
	ON CONFLICT (account_id, mode, ref_id) DO NOTHING`

// insert stores a recharge with its audit row, and begins its batch item. The recharge fails if the balance is too low.
func (s *Service) insert(tx *sqlstore.Tx, r *request.Request, d *draft) error {
	if err := transaction.BeginItem(tx, &d.Base); err != nil {
		return err
	}
	if d.State == schema.RechargePending {
		enough, err := wallet.Reserve(tx, d.CreatedAt, d.Owner, d.ID, d.Amount)
		if err != nil {
			return err
		}
		if !enough {
			d.failed(schema.InsufficientBalance, record.FailureText(schema.InsufficientBalance))
		}
	}
	inserted, err := tx.Expect(1, insertRow, d.ID, d.Owner.Account, d.Owner.World.String(), d.RefID, string(d.State), string(d.Type), d.Number, d.RequestedOperator, d.Operator,
		d.Circle, d.Detection, int64(d.Amount), d.Provider, d.Reference, sqlstore.BoolToInt(d.Sent), sqlstore.Micros(d.SentAt),
		sqlstore.Micros(transaction.FirstDue(&d.Base, d.lease)), d.lease.Token,
		string(d.ErrorCode), d.ErrorMessage, d.Batch.Batch, d.Batch.Index, d.CreatedAt.UnixMicro(), sqlstore.Micros(d.FinishedAt))
	if err != nil {
		return err
	}
	if !inserted {
		return transaction.ErrExists
	}
	return s.writeAuditAndEvent(tx, r, &d.Record)
}

// writeAuditAndEvent writes the audit row of a new recharge. If the recharge has failed already, it
// also writes the event and finishes the batch item.
func (s *Service) writeAuditAndEvent(tx *sqlstore.Tx, r *request.Request, rec *record.Record) error {
	action := "recharge.create"
	detail := map[string]any{"amount": rec.Amount, "operator": record.OperatorName(rec), "ref_id": rec.RefID}
	if rec.State == schema.RechargeFailed {
		if err := record.AppendEvent(tx, s.Events, rec); err != nil {
			return err
		}
		action, detail["code"] = "recharge.failed", rec.ErrorCode
	}
	err := audit.Append(tx, rec.CreatedAt, r.Audit(&rec.Base, action, detail))
	if err != nil || rec.State != schema.RechargeFailed {
		return err
	}
	return settle.FinishItem(tx, rec.CreatedAt, rec)
}

// sendPendingEvent appends the event recharge.pending once if the recharge is still pending,
// and returns the current row.
func (s *Service) sendPendingEvent(ctx context.Context, r record.Record) record.Record {
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), workqueue.RecordTimeout)
	defer done()
	now := r
	err := s.DB.Update(sqlstore.WithWorld(limit, r.Owner.World), func(tx *sqlstore.Tx) error {
		n, err := tx.Exec("UPDATE recharge SET told_pending = 1 WHERE id = $1 AND state = 'pending' AND told_pending = 0", r.ID)
		if err == nil {
			now, _, err = record.Table.Get(tx, r.ID)
		}
		if err == nil && n == 1 {
			err = record.AppendEvent(tx, s.Events, &now)
		}
		return err
	})
	s.metrics.Records.Observe(limit, err)
	if err != nil {
		return r
	}
	return now
}
