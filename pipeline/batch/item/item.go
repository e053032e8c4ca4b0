package item

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Statements for records. A record usually needs one statement to begin and two to finish.
const (
	insertBegun = `INSERT INTO batch_item (batch_id, place, subject, outcome) VALUES ($1, $2, $3, 'begun')
		ON CONFLICT (batch_id, place) DO NOTHING`
	insertRefused = `INSERT INTO batch_item (batch_id, place, subject, outcome, refusal) VALUES ($1, $2, '', 'failed', $3)
		ON CONFLICT (batch_id, place) DO NOTHING`
	finishItem = "UPDATE batch_item SET outcome = $3 WHERE batch_id = $1 AND place = $2 AND outcome = 'begun'"
	// In the CASE expressions the columns still have their values from before the UPDATE.
	countItem = `UPDATE batch SET successful = successful + $2, failed = failed + $3,
			state       = CASE WHEN successful + failed + $2 + $3 = total THEN 'completed' ELSE state END,
			finished_at = CASE WHEN successful + failed + $2 + $3 = total THEN $4 ELSE finished_at END
		WHERE id = $1 RETURNING account_id, mode, state, total, successful, failed`
)

// Begin records that a record's subject (its recharge or verification) exists. Call it in the
// transaction that creates the subject. It returns false if the record has begun before, or was
// rejected. Then the transaction must create nothing.
func Begin(tx *sqlstore.Tx, item Item, subject string) (bool, error) {
	n, err := tx.Exec(insertBegun, item.Batch, item.Index, subject)
	if err != nil {
		return false, fmt.Errorf("beginning record %d of %s: %w", item.Index, item.Batch, err)
	}
	return n == 1, nil
}

// Reject stores a record as rejected and counts it as failed. It does nothing if the record is
// already rejected, or has begun with [Begin]. Like [Finish], it returns the batch if the batch is
// now complete, and must be the last call in its transaction.
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

// Finish counts a begun record as successful or failed, in the transaction that makes its outcome
// final. It is idempotent. It returns the batch if the batch is now complete, otherwise nil. It
// must be the last call in its transaction, because it locks the batch's row.
func Finish(tx *sqlstore.Tx, now time.Time, batchID string, index int, successful bool) (*Finished, error) {
	outcome, good, bad := outcomeFailed, 0, 1
	if successful {
		outcome, good, bad = outcomeSuccessful, 1, 0
	}
	n, err := tx.Exec(finishItem, batchID, index, outcome)
	if err != nil {
		return nil, fmt.Errorf("finishing record %d of %s: %w", index, batchID, err)
	}
	if n == 0 {
		return nil, nil
	}
	return Count(tx, now, batchID, good, bad)
}

// Values of the column outcome of batch_item.
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

// Count adds to the numbers of successful and failed records of a batch. It returns the batch if
// the batch is now complete, else nil.
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
