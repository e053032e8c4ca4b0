package recharge

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"vayu/internal/access"
	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/pipeline/batch"
	"vayu/pipeline/recharge/numbering"
	"vayu/pipeline/upstream"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// Do makes a recharge of a request and waits for its outcome, for so long: what it
// returns may be pending. Then recharge.pending is told; with no wait at all that is
// left to the call, which tells it when it ends without an outcome. Unless the request
// is patient, Do waits no longer when the next look at the recharge is later than that.
//
// Replayed says that the ref_id was used before for the same thing, and then only a
// patient request waits; for another thing the error is duplicate_ref_id. Other
// refusals after which nothing is recorded are *schema.Problem too. A request that is
// an item of a batch is refused as duplicate_ref_id in both cases, unless the item
// itself has made it.
func (s *Service) Do(ctx context.Context, r Request, wait time.Duration) (rec Record, replayed bool, err error) {
	if rec, found, err := s.before(ctx, &r); found || err != nil {
		return s.replay(ctx, rec, wait, r.Patient), found, err
	}
	made, err := s.make(ctx, &r, wait)
	if errors.Is(err, errTaken) { // somebody else was faster with the ref_id, or it was begun before
		rec, found, err := s.before(ctx, &r)
		if err == nil && !found {
			err = schema.Refuse(schema.DuplicateRefID, "ref_id", "This record of the batch was begun before.")
		}
		return s.replay(ctx, rec, wait, r.Patient), found, err
	}
	return made, false, err
}

// make makes a recharge of a request whose ref_id is new, and waits for its outcome.
func (s *Service) make(ctx context.Context, r *Request, wait time.Duration) (Record, error) {
	d, err := s.draft(ctx, r)
	if err != nil {
		return Record{}, err
	}
	w := s.waits.Await(d.ID)
	defer s.waits.Forget(d.ID, w)
	made, err := s.create(ctx, r, d)
	if err != nil || made.State != schema.RechargePending || wait <= 0 {
		return made, err
	}
	made = s.watch(ctx, made, w, wait, r.Patient)
	if made.State == schema.RechargePending && !made.ToldPending {
		made = s.tellPending(ctx, made)
	}
	return made, nil
}

// selectIDByRef is asked for every new recharge, and mostly in vain: reading it costs
// the engine less than reading a statement with all columns.
const selectIDByRef = "SELECT id FROM recharge WHERE account_id = $1 AND mode = $2 AND ref_id = $3"

// before is the recharge for which the ref_id of a request was used before.
func (s *Service) before(ctx context.Context, r *Request) (Record, bool, error) {
	view := s.DB.View(ctx)
	var id string
	err := view.QueryRow(selectIDByRef, r.Owner.Account, r.Owner.World.String(), r.RefID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, err
	}
	rec, found, err := one(view, selectByID, id)
	switch {
	case err != nil || !found:
		return Record{}, false, errors.Join(err, errGone(found))
	case r.Item != nil && rec.Batch == *r.Item:
		return rec, true, nil
	case r.Item == nil && rec.Type == r.Type && s.sameNumber(&rec, r.Number) && rec.Asked == r.Asked && rec.Amount == r.Amount:
		return rec, true, nil
	}
	text := "This ref_id was used before, for " + rec.ID + ", which is another recharge."
	if r.Item != nil {
		text = "This ref_id was used before, for " + rec.ID + "."
	}
	return Record{}, false, schema.Refuse(schema.DuplicateRefID, "ref_id", text)
}

// draft is a recharge before it is stored.
type draft struct {
	Record

	line  *line          // by which it goes; nil when it has failed already
	lease upstream.Lease // of the slot that it has; none when it has to wait
}

// draft finds out what becomes of a request, and takes a slot for it when there is
// one. A *schema.Problem says why nothing does.
func (s *Service) draft(ctx context.Context, r *Request) (*draft, error) {
	d := &draft{Record: Record{
		Owner: r.Owner, RefID: r.RefID, State: schema.RechargePending, Type: r.Type, Number: r.Number, Asked: r.Asked, Operator: r.Asked, Amount: r.Amount,
	}}
	if r.Item != nil {
		d.Batch = *r.Item
	}
	if r.Valid {
		if err := s.place(ctx, d); err != nil {
			return nil, err
		}
	}
	slot := d.line != nil && d.line.slot(ctx, r)
	now := sqlstore.Whole(s.Now()) // after a lookup that may have taken seconds
	d.ID, d.CreatedAt = newID(now), now
	if d.line == nil {
		d.failed(schema.InvalidNumber, notNumbers[d.Type]+" "+nothingCharged)
		return d, nil
	}
	d.Provider, d.Reference = d.line.Name, d.ID
	if slot {
		d.lease, d.Sent = s.calls.Lease(d.line.Line), true
		d.SentAt = d.line.Latest(d.lease)
	}
	return d, nil
}

// place finds out by whom a recharge is carried out.
func (s *Service) place(ctx context.Context, d *draft) error {
	switch {
	case d.Asked != "":
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
	l, available := s.route(d.Owner.World, d.Operator)
	switch {
	case l == nil:
		return unserved(d.Operator)
	case !available:
		return errUnavailable
	}
	d.line = l
	return nil
}

// fieldOperator is the field of refusals that another operator would not have met.
const fieldOperator = "operator"

// unserved is the refusal of an operator whom no connection serves. It is final until
// somebody connects a provider that does.
func unserved(operator string) *schema.Problem {
	return &schema.Problem{
		Code: schema.OperatorUnavailable, Field: fieldOperator, Message: "Nobody carries out recharges of " + operator + " here. Nothing was recorded.",
	}
}

var (
	errNotDetected = schema.Refuse(schema.OperatorNotDetected, fieldOperator, "The operator of this number could not be found out. Please name it.")
	errAuto        = schema.Refuse(schema.OperatorNotDetected, fieldOperator, "auto is for prepaid numbers: name the operator.")
	errUnavailable = schema.Refuse(schema.OperatorUnavailable, "", "This operator does not take recharges at the moment. Nothing was recorded; please try again.")
)

// failed makes a recharge one that has failed before anybody was asked.
func (d *draft) failed(code schema.Code, text string) {
	d.State, d.ErrorCode, d.ErrorMessage, d.FinishedAt = schema.RechargeFailed, code, text, d.CreatedAt
	d.Provider, d.Reference, d.Sent, d.SentAt = "", "", false, time.Time{}
}

// errTaken says that there is a recharge already for what was asked.
var errTaken = errors.New("it was recorded before")

// create stores a recharge with its amount set aside, and has it sent.
func (s *Service) create(ctx context.Context, r *Request, d *draft) (Record, error) {
	var made draft
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		made = *d
		return s.insert(tx, r, &made)
	})
	pending := err == nil && made.State == schema.RechargePending
	if d.lease.Token != "" && !pending {
		d.line.Give(r.Item != nil)
	}
	switch {
	case err != nil:
		return Record{}, err
	case !pending:
		s.metrics.finished(&made.Record)
		return made.Record, nil
	}
	failpoint.Point(failpoint.RechargeCreated)
	if d.lease.Token == "" {
		d.line.Due(made.CreatedAt)
		return made.Record, nil
	}
	s.start(job{line: d.line, rec: made.Record, call: submit, lease: d.lease, calls: tracing.Along(s.calls.Calls(), ctx)})
	return made.Record, nil
}

const insertRow = `INSERT INTO recharge (id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount, provider, reference,
		provider_ref, sent, sent_at, tries, due_at, token, told_pending, error_code, error_message, alarm, refund_id, refund_reason,
		batch_id, batch_index, created_at, finished_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, '', $15, $16, 0, $17, $18, 0, $19, $20, '', '', '', $21, $22, $23, $24)
	ON CONFLICT (account_id, mode, ref_id) DO NOTHING`

// insert stores a recharge with all that belongs to it.
func (s *Service) insert(tx *sqlstore.Tx, r *Request, d *draft) error {
	if r.Item != nil {
		begun, err := batch.Begin(tx, batch.Item{Batch: r.Item.Batch, Index: r.Item.Index, Owner: r.Owner}, d.ID)
		if err != nil {
			return err
		}
		if !begun {
			return errTaken
		}
	}
	now := d.CreatedAt
	if d.State == schema.RechargePending {
		enough, err := wallet.Reserve(tx, now, d.Owner, d.ID, d.Amount)
		if err != nil {
			return err
		}
		if !enough {
			d.failed(schema.InsufficientBalance, failureText(schema.InsufficientBalance))
		}
	}
	due := time.Time{}
	switch {
	case d.State != schema.RechargePending:
		d.lease = upstream.Lease{}
	case d.lease.Token != "":
		due = d.lease.Until
	default:
		due = now
	}
	n, err := tx.Exec(insertRow, d.ID, d.Owner.Account, d.Owner.World.String(), d.RefID, string(d.State), string(d.Type), d.Number, d.Asked, d.Operator,
		d.Circle, d.Detection, int64(d.Amount), d.Provider, d.Reference, sqlstore.Flag(d.Sent), sqlstore.Micros(d.SentAt), sqlstore.Micros(due), d.lease.Token,
		string(d.ErrorCode), d.ErrorMessage, d.Batch.Batch, d.Batch.Index, now.UnixMicro(), sqlstore.Micros(d.FinishedAt))
	if err != nil {
		return err
	}
	if n == 0 {
		return errTaken
	}
	return s.accompany(tx, r, &d.Record)
}

// accompany stores what goes with a new recharge: the row of the audit log and, when
// it has failed at once, its event and its place in its batch.
func (s *Service) accompany(tx *sqlstore.Tx, r *Request, rec *Record) error {
	action := "recharge.create"
	detail := map[string]any{"amount": rec.Amount, "operator": carrier(rec), "ref_id": rec.RefID}
	if rec.State == schema.RechargeFailed {
		if err := s.append(tx, rec); err != nil {
			return err
		}
		action, detail["code"] = "recharge.failed", rec.ErrorCode
	}
	err := access.Audit(tx, rec.CreatedAt, access.Entry{
		Account: rec.Owner.Account, World: rec.Owner.World, Actor: r.By.Key, Action: action, Subject: rec.ID,
		Request: r.By.Request, Client: r.By.Client, Detail: detail,
	})
	if err != nil || rec.State != schema.RechargeFailed {
		return err
	}
	return finishItem(tx, rec.CreatedAt, rec)
}
