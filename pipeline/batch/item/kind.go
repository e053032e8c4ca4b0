// Package item describes what batches process: their kinds, and the records of a batch. A record
// begins once, and is finished or rejected once.
package item

import (
	"context"
	"database/sql"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Item is one record of a batch.
type Item struct {
	Batch  string // id
	Index  int    // of the record, from 0
	Owner  schema.Owner
	Record []byte // JSON value as the client sent it; read-only
	// Ids of the API key and the request, and the client's address, for the audit log.
	Key, Request, Client string
}

// Kind describes the batches of one kind of record.
type Kind struct {
	Name   string // in the column "kind", in metrics and in the audit log: "recharge"
	Prefix string // of ids: "rbt_"
	Array  string // name of the array in the body: "recharges"
	Path   string // of the endpoints: "/v1/recharge/batch"
	Write  schema.Scope
	Read   schema.Scope
	// Do processes one record. It calls [Begin] in the store transaction that creates the
	// subject of the record (its recharge or verification), or ends with [Reject]. After Begin
	// it must bring the record to [Finish], in this call or later. An error means that the
	// record could not begin, for example because a provider is unavailable; the record is
	// retried. The context ends some seconds after that of the service, and after a minute in
	// any case, because Do occupies one of the Concurrency slots.
	Do func(ctx context.Context, item Item) error
	// Ready returns an error if no record of a world (live or sandbox) can begin, for example
	// without a provider. The batch is rejected with that error. Ready may be nil.
	Ready func(w schema.World) error
	// Completed is called when the service itself rejects the last record of a batch, in the
	// same transaction; it may be nil. Callers of Finish and Reject handle the batches that
	// those complete.
	Completed func(tx *sqlstore.Tx, done *Finished) error
	// Render returns the current state of the subjects of records, by subject. Each value must
	// encode as a JSON object without a field "index".
	Render func(q sqlstore.Querier, o schema.Owner, batch string, from, to int) (map[string]any, error)
	// Concurrency is the maximum number of records in flight in an instance.
	Concurrency int
	// Retention is how long the results of a completed batch are available; 0 means for
	// ever. After it the batch is expired, and its items are deleted somewhat later. The
	// batch itself stays, so that a repeated ref_id is recognized.
	Retention time.Duration
	// ResultsURL returns the address of the results of a batch for replies. If nil,
	// replies have none.
	ResultsURL func(batchID string) string
}

// ExpiresAt returns when the results of a batch expire: zero before completion, and
// without a retention. The argument finished is the time of completion in microseconds.
func (k *Kind) ExpiresAt(finished sql.NullInt64) time.Time {
	if k.Retention == 0 || !finished.Valid {
		return time.Time{}
	}
	return time.UnixMicro(finished.Int64).Add(k.Retention)
}

// IsExpired reports whether the results of a batch have expired. That depends on the time
// only, not on the deletion of the results.
func (k *Kind) IsExpired(finished sql.NullInt64, now time.Time) bool {
	at := k.ExpiresAt(finished)
	return !at.IsZero() && !now.Before(at)
}

// States returns the possible states of a batch.
func (k *Kind) States() []schema.BatchState {
	if k.Retention == 0 {
		return []schema.BatchState{schema.BatchQueued, schema.BatchProcessing, schema.BatchCompleted}
	}
	return schema.BatchStates
}

// StatesText returns the states for messages.
func (k *Kind) StatesText() string {
	if k.Retention == 0 {
		return "queued, processing or completed"
	}
	return "queued, processing, completed or expired"
}
