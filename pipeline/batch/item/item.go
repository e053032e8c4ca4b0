// Package item defines what package batch processes: kinds of batches, and the records of a batch.
// A record either begins once and then finishes once, or it is rejected.
package item

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Item is one record of a batch.
type Item struct {
	Batch  string // id
	Index  int    // index of the record, from 0
	Owner  schema.Owner
	Record []byte // JSON value as the client sent it; read-only
	// For the audit log: the ids of the API key and the request, and the client's IP address.
	Key, Request, Client string
}

// Kind describes the batches of one kind of record, such as recharges.
type Kind struct {
	Name   string // in the column "kind", in metrics and in the audit log: "recharge"
	Prefix string // prefix of ids: "rbt_"
	Array  string // name of the array in the body: "recharges"
	Path   string // path of the endpoints: "/v1/recharge/batch"
	Write  schema.Scope
	Read   schema.Scope
	// Do processes one record. In the transaction that creates the subject of the record (its recharge or
	// verification), it calls [Begin]. If it creates no subject, it calls [Reject]. After Begin it must ensure that
	// [Finish] is called, in this call or later. An error means that the record could not begin, for example because a
	// provider is unavailable. Then the record is retried. ctx ends a few seconds after the context of the service. It
	// ends at the latest after a minute, because Do occupies one of the Concurrency slots.
	Do func(ctx context.Context, item Item) error
	// Ready returns an error if no record of a world (live or sandbox) can begin, for example
	// without a provider. Then the service rejects new batches with that error. Ready may be nil.
	Ready func(w schema.World) error
	// Completed is called when package batch completes a batch because it rejects the last open records, whose ref_id
	// is repeated. When [Finish] or [Reject] completes a batch, their caller acts instead. Completed may be nil.
	Completed func(tx *sqlstore.Tx, done *Finished) error
	// Render returns the current state of the subjects (recharges or verifications) of the records [from, to), by the
	// subject's id. Each value must encode as a JSON object without a field "index".
	Render func(q sqlstore.Querier, o schema.Owner, batch string, from, to int) (map[string]any, error)
	// Concurrency is the maximum number of records that an instance processes at a time.
	Concurrency int
	// Retention is how long the results of a completed batch are available. If it is 0, they never
	// expire. After this time the batch is expired, and its items are deleted somewhat later. The
	// row of the batch stays, so that a repeated ref_id is recognized.
	Retention time.Duration
	// ResultsURL returns the URL of a batch's results, for replies. If it is nil, replies have no such URL.
	ResultsURL func(batchID string) string
}

// ExpiresAt returns when the results of a batch expire. The result is zero if the batch is not
// completed, or if Retention is 0. `finished` is the time of completion in microseconds.
func (k *Kind) ExpiresAt(finished sql.NullInt64) time.Time {
	if k.Retention == 0 || !finished.Valid {
		return time.Time{}
	}
	return time.UnixMicro(finished.Int64).Add(k.Retention)
}

// IsExpired reports whether the results of a batch have expired at the time `now`. Expired results may still be in the
// store.
func (k *Kind) IsExpired(finished sql.NullInt64, now time.Time) bool {
	at := k.ExpiresAt(finished)
	return !at.IsZero() && !now.Before(at)
}

// States returns the states that a batch of this kind can have.
func (k *Kind) States() []schema.BatchState {
	if k.Retention == 0 {
		return []schema.BatchState{schema.BatchQueued, schema.BatchProcessing, schema.BatchCompleted}
	}
	return schema.BatchStates
}

// StatesText returns the states of [Kind.States] as text, for messages.
func (k *Kind) StatesText() string {
	if k.Retention == 0 {
		return "queued, processing or completed"
	}
	return "queued, processing, completed or expired"
}

// These are the statements for records. A record usually needs one statement to begin and two to finish.
const (
	insertBegun = `INSERT INTO batch_item (batch_id, place, subject, outcome) VALUES ($1, $2, $3, 'begun')
		ON CONFLICT (batch_id, place) DO NOTHING`
	insertRefused = `INSERT INTO batch_item (batch_id, place, subject, outcome, refusal) VALUES ($1, $2, '', 'failed', $3)
		ON CONFLICT (batch_id, place) DO NOTHING`
	finishItem = "UPDATE batch_item SET outcome = $3 WHERE batch_id = $1 AND place = $2 AND outcome = 'begun'"
	// In the CASE expressions, the columns have their values from before the UPDATE.
	countItem = `UPDATE batch SET successful = successful + $2, failed = failed + $3,
			state       = CASE WHEN successful + failed + $2 + $3 = total THEN 'completed' ELSE state END,
			finished_at = CASE WHEN successful + failed + $2 + $3 = total THEN $4 ELSE finished_at END
		WHERE id = $1 RETURNING account_id, mode, state, total, successful, failed`
)

// Begin records that a record's subject (its recharge or verification) exists. Call it in the transaction that creates
// the subject. Begin returns false if the record has begun before, or was rejected. Then the transaction must create
// nothing.
func Begin(tx *sqlstore.Tx, item Item, subject string) (bool, error) {
	begun, err := tx.Expect(1, insertBegun, item.Batch, item.Index, subject)
	if err != nil {
		return false, fmt.Errorf("beginning record %d of %s: %w", item.Index, item.Batch, err)
	}
	return begun, nil
}

// Reject stores a record as rejected and counts it as failed. It does nothing if the record is already rejected, or has
// begun with [Begin]. It returns the batch if the batch is now complete, otherwise nil. Call it last in the
// transaction, because it locks the batch's row.
func Reject(tx *sqlstore.Tx, now time.Time, item Item, why *schema.Problem) (*Finished, error) {
	text, err := json.Marshal(Refusal{RefID: RefOf(item.Record), Error: *why})
	if err != nil {
		return nil, fmt.Errorf("encoding the error of record %d of %s: %w", item.Index, item.Batch, err)
	}
	n, err := tx.Exec(insertRefused, item.Batch, item.Index, text)
	if err != nil {
		return nil, fmt.Errorf("rejecting record %d of %s: %w", item.Index, item.Batch, err)
	}
	if n == 0 {
		return nil, nil
	}
	return Count(tx, now, item.Batch, 0, 1)
}

// Finish counts a record as successful or failed, in the transaction that makes its outcome final. It does nothing if
// [Begin] has not begun the record, or if the record was counted before. The counters of the batch are updated at the
// end of the transaction, because the update locks the row of the batch. If this completes the batch, the function
// `completed` is called, unless it is nil. sqlstore.DB.Update, and not Finish, returns an error of the update or of
// `completed`.
func Finish(tx *sqlstore.Tx, now time.Time, batchID string, index int, successful bool, completed func(*sqlstore.Tx, *Finished) error) error {
	outcome, n := outcomeFailed, count{batch: batchID, failed: 1, now: now, completed: completed}
	if successful {
		outcome, n.successful, n.failed = outcomeSuccessful, 1, 0
	}
	began, err := tx.Expect(1, finishItem, batchID, index, outcome)
	if err != nil {
		return fmt.Errorf("finishing record %d of %s: %w", index, batchID, err)
	}
	if began {
		all := sqlstore.AtEnd(tx, (*counts).write)
		*all = append(*all, n)
	}
	return nil
}

// count is the number of records of a batch that a transaction has finished.
type count struct {
	batch              string
	successful, failed int
	now                time.Time
	completed          func(*sqlstore.Tx, *Finished) error
}

type counts []count

// write adds the finished records to the counters of their batches. For a completed batch, it calls `completed`.
func (c *counts) write(tx *sqlstore.Tx) error {
	slices.SortStableFunc(*c, func(a, b count) int { return strings.Compare(a.batch, b.batch) }) // in one order, against deadlocks
	for i, n := range *c {
		if next := i + 1; next < len(*c) && (*c)[next].batch == n.batch {
			(*c)[next].successful += n.successful
			(*c)[next].failed += n.failed
			continue
		}
		done, err := Count(tx, n.now, n.batch, n.successful, n.failed)
		if err == nil && done != nil && n.completed != nil {
			err = n.completed(tx, done)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// These are the values of the column outcome of batch_item.
const (
	outcomeBegun      = "begun"
	outcomeSuccessful = "successful"
	outcomeFailed     = "failed"
)

// Finished is a batch whose records have all finished or were rejected.
type Finished struct {
	ID                        string
	Owner                     schema.Owner
	Total, Successful, Failed int
	At                        time.Time // time of completion; the results expire [Kind.Retention] later
}

// Count adds to the numbers of successful and failed records of a batch. It returns the batch if the batch is now
// complete, otherwise nil.
func Count(tx *sqlstore.Tx, now time.Time, batchID string, successful, failed int) (*Finished, error) {
	f := &Finished{ID: batchID, At: now.UTC().Truncate(time.Microsecond)}
	var mode, state string
	err := tx.QueryRow(countItem, batchID, successful, failed, now.UnixMicro()).
		Scan(&f.Owner.Account, &mode, &state, &f.Total, &f.Successful, &f.Failed)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("counting records of %s: there is no such batch", batchID)
	case err != nil:
		return nil, fmt.Errorf("counting records of %s: %w", batchID, err)
	case state != string(schema.BatchCompleted):
		return nil, nil
	}
	f.Owner.World = schema.WorldOf(mode)
	return f, nil
}

// Refusal is the stored error of a rejected record.
type Refusal struct {
	RefID string         `json:"ref_id,omitempty"` // ref_id of the record; "" if the record has no valid one
	Error schema.Problem `json:"error"`
}

// RefOf returns the ref_id of a record; "" if the record has no valid ref_id.
func RefOf(record []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(record))
	if begin, err := d.ReadToken(); err != nil || begin.Kind() != jsontext.KindBeginObject {
		return ""
	}
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != jsontext.KindString {
			return "" // end of the object, or invalid JSON
		}
		if name.String() != "ref_id" {
			if d.SkipValue() != nil {
				return ""
			}
			continue
		}
		ref, err := d.ReadToken()
		if err != nil || ref.Kind() != jsontext.KindString || !schema.IsRef(ref.String()) {
			return ""
		}
		return ref.String()
	}
}
