package recharge

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// BatchKind returns the batch kind of recharges. A record has the format of the body of
// POST /v1/recharge.
func (s *Service) BatchKind() item.Kind {
	return item.Kind{
		Name: "recharge", Prefix: "rbt_", Array: "recharges", Path: path + "/batch",
		Write: schema.RechargeWrite, Read: schema.RechargeRead,
		Do: s.doItem, Ready: s.connected, Render: renderItems, Concurrency: s.BatchShare,
	}
}

// connected rejects a batch if its world (live or sandbox) has no provider. Otherwise each record
// would fail after the reply that the batch is accepted.
func (s *Service) connected(world schema.World) error {
	if slices.ContainsFunc(s.connections, func(conn *connection) bool { return conn.World == world }) {
		return nil
	}
	return &schema.Problem{Code: schema.OperatorUnavailable, Field: fieldOperator, Message: "No operator is connected here. Nothing was recorded."}
}

// doItem creates a recharge from a record and waits for its final state, at most defaultWait.
// Without the wait, a batch would flood operators that immediately answer that an order is pending.
// After the wait, a pending recharge continues without a worker of the batch.
func (s *Service) doItem(ctx context.Context, item item.Item) error {
	r, err := recordOf(item.Record)
	if err == nil {
		r.Owner = item.Owner
		r.Caller = httpapi.Who{Key: item.Key, Request: item.Request, Client: item.Client}
		r.Item = &transaction.BatchItem{Batch: item.Batch, Index: item.Index}
		_, _, err = s.Do(ctx, r, defaultWait)
	}
	// An unavailable operator is a temporary error. A missing connection is a final error.
	return s.FinishItem(ctx, item, err, transaction.Rejection{Final: fieldOperator, MaxAge: maxRetryAge})
}

// maxRetryAge is the maximum age of a batch whose items are retried while their operator is
// unavailable. Later, the client no longer wants the recharges.
const maxRetryAge = 24 * time.Hour

// recordOf parses a record of a batch as a request. The record may be any JSON value.
func recordOf(record jsontext.Value) (request.Request, error) {
	if err := transaction.CheckItem(record); err != nil {
		return request.Request{}, err
	}
	return request.Parse(record)
}

// renderItems renders recharges for replies about batches.
func renderItems(q sqlstore.Querier, o schema.Owner, batchID string, from, to int) (map[string]any, error) {
	return record.Table.RenderItems(q, o, batchID, from, to, kind.Reply)
}
