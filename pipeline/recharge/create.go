package recharge

import (
	"context"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/internal/workqueue"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/recharge/numbering"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

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
	made = s.Await(ctx, made, updates, wait, func(u transaction.Update[record.Record]) bool { return !r.WaitFull && u.Retry.After(end) })
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
		d.lease = s.Acquire(ctx, &d.connection.Link, &d.Record, defaultWait)
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

// chooseConnection sets the connection of a recharge, and its operator and circle if known.
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

// fieldOperator is the Problem.Field of problems that concern the operator and do not go away by themselves. A batch
// item with such a problem is not retried. [errUnavailable] is temporary, so it has no Field.
const fieldOperator = "operator"

// errUnserved returns the problem for an operator that no connection serves. The problem lasts until the configuration
// has a connection for the operator.
func errUnserved(operator string) *schema.Problem {
	return &schema.Problem{
		Code: schema.OperatorUnavailable, Field: fieldOperator, Message: "There is no provider for recharges of " + operator + " here. Nothing was recorded.",
	}
}

var (
	errNotDetected = schema.NewProblem(schema.OperatorNotDetected, fieldOperator, "The operator of this number could not be found out. Please name it.")
	errAuto        = schema.NewProblem(schema.OperatorNotDetected, fieldOperator, "auto is for prepaid numbers: name the operator.")
	errUnavailable = schema.NewProblem(schema.OperatorUnavailable, "", "This operator does not take recharges at the moment. Nothing was recorded; please try again.")
)

// failed makes a recharge fail before any provider call.
func (d *draft) failed(code schema.Code, text string) {
	d.State, d.ErrorCode, d.ErrorMessage, d.FinishedAt = schema.RechargeFailed, code, text, d.CreatedAt
	d.Provider, d.Reference, d.Sent, d.SentAt, d.lease = "", "", false, time.Time{}, workqueue.Lease{}
}

// create stores a recharge, reserves its amount and starts the submit call if the draft has a slot.
func (s *Service) create(ctx context.Context, r *request.Request, d *draft) (record.Record, error) {
	var made draft
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		made = *d
		return s.insert(tx, r, &made)
	})
	if s.Inserted(&made.Record, s.Link(d.Owner.World, d.Provider), d.lease, err) {
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

// insert stores a recharge and its audit row, begins its batch item and reserves its amount.
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
	n, err := tx.Exec(insertRow, d.ID, d.Owner.Account, d.Owner.World.String(), d.RefID, string(d.State), string(d.Type), d.Number, d.RequestedOperator, d.Operator,
		d.Circle, d.Detection, int64(d.Amount), d.Provider, d.Reference, sqlstore.BoolToInt(d.Sent), sqlstore.Micros(d.SentAt),
		sqlstore.Micros(transaction.FirstDue(&d.Base, d.lease)), d.lease.Token,
		string(d.ErrorCode), d.ErrorMessage, d.Batch.Batch, d.Batch.Index, d.CreatedAt.UnixMicro(), sqlstore.Micros(d.FinishedAt))
	if err != nil {
		return err
	}
	if n == 0 {
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

// BatchKind returns the batch kind of recharges. A record has the format of the body of
// POST /v1/recharge.
func (s *Service) BatchKind() item.Kind {
	return item.Kind{
		Name: "recharge", Prefix: "rbt_", Array: "recharges", Path: path + "/batch",
		Write: schema.RechargeWrite, Read: schema.RechargeRead,
		Do: s.doItem, Ready: s.connected, Render: renderItems, Concurrency: s.settings.BatchRoom,
	}
}

// connected rejects a batch if its world (live or sandbox) has no provider. Otherwise each record
// would fail after the reply that the batch is accepted.
func (s *Service) connected(world schema.World) error {
	if s.Connected(world) {
		return nil
	}
	return &schema.Problem{Code: schema.OperatorUnavailable, Field: fieldOperator, Message: "No operator is connected here. Nothing was recorded."}
}

// doItem creates a recharge from a record and waits for its final state, at most defaultWait. Without the wait, a batch
// would flood operators that immediately answer "pending". After the wait, the recharge continues without a slot of the
// batch.
func (s *Service) doItem(ctx context.Context, of item.Item) error {
	// If the operator is unavailable, the item is retried. If no connection serves the operator, the item is rejected.
	by := transaction.Rejection{Final: fieldOperator, MaxAge: maxRetryAge}
	return s.DoItem(ctx, of, by, func(ctx context.Context, from transaction.Origin) error {
		r, err := request.Parse(of.Record)
		if err == nil {
			r.Origin = from
			_, _, err = s.Do(ctx, r, defaultWait)
		}
		return err
	})
}

// maxRetryAge is the maximum age of a batch whose items are retried while their operator is unavailable. Clients no
// longer expect recharges of older batches.
const maxRetryAge = 24 * time.Hour

// renderItems renders recharges for replies about batches.
func renderItems(q sqlstore.Querier, o schema.Owner, batchID string, from, to int) (map[string]any, error) {
	return record.Table.RenderItems(q, o, batchID, from, to, kind.Reply)
}
