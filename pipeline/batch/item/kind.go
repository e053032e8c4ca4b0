// Package item defines what package batch processes: kinds of batches, and the records of a batch.
// A record either begins once and then finishes once, or it is rejected.
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
	Index  int    // index of the record, from 0
	Owner  schema.Owner
	Record []byte // JSON value as the client sent it; read-only
	// Ids of the API key and the request, and the client's IP address, for the audit log.
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
	// Do processes one record. It calls [Begin] in the transaction that creates the subject of the
	// record (its recharge or verification), or else it calls [Reject]. After Begin it must make
	// sure that [Finish] is called, in this call or later. An error means that the record could not
	// begin, for example because a provider is unavailable. Then the record is retried. ctx ends
	// some seconds after the context of the service, and in any case after a minute, because Do
	// occupies one of the Concurrency slots.
	Do func(ctx context.Context, item Item) error
	// Ready returns an error if no record of a world (live or sandbox) can begin, for example
	// without a provider. Then the service rejects new batches with that error. Ready may be nil.
	Ready func(w schema.World) error
	// Completed is called if a batch completes because the service itself rejected duplicates in
	// it. It runs in the transaction that completes the batch, and may be nil. If a batch completes
	// in Finish or Reject, the caller of that function handles the batch.
	Completed func(tx *sqlstore.Tx, done *Finished) error
	// Render returns the current state of the subjects of the records [from, to). The map has a
	// value for each subject. Each value must encode as a JSON object without a field "index".
	Render func(q sqlstore.Querier, o schema.Owner, batch string, from, to int) (map[string]any, error)
	// Concurrency is the maximum number of records that an instance processes at a time.
	Concurrency int
	// Retention is how long the results of a completed batch are available; 0 means for ever. After
	// this time the batch is expired, and its items are deleted somewhat later. The row of the
	// batch stays, so that a repeated ref_id is recognized.
	Retention time.Duration
	// ResultsURL returns the URL of a batch's results, for replies. If it is nil, replies have no
	// such URL.
	ResultsURL func(batchID string) string
}

// ExpiresAt returns when the results of a batch expire. The result is zero if the batch is not
// completed, or if Retention is 0. finished is the time of completion in microseconds.
func (k *Kind) ExpiresAt(finished sql.NullInt64) time.Time {
	if k.Retention == 0 || !finished.Valid {
		return time.Time{}
	}
	return time.UnixMicro(finished.Int64).Add(k.Retention)
}

// IsExpired reports whether the results of a batch have expired at the time now. Expired results
// may still be in the store.
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
