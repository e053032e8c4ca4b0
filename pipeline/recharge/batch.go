package recharge

import (
	"context"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// BatchKind returns the batch kind of recharges. A record has the format of the body of POST /v1/recharge.
func (s *Service) BatchKind() item.Kind {
	return item.Kind{
		Name: "recharge", Prefix: "rbt_", Array: "recharges", Path: path + "/batch",
		Write: schema.RechargeWrite, Read: schema.RechargeRead,
		Do: s.doItem, Ready: s.connected, Render: renderItems, Concurrency: s.settings.BatchRoom,
	}
}

// connected returns an error for a batch if its world (live or sandbox) has no provider. Otherwise
// the service would accept the batch, and each of its records would fail later.
func (s *Service) connected(world schema.World) error {
	if s.Core.Connected(world) {
		return nil
	}
	return &schema.Problem{Code: schema.OperatorUnavailable, Field: fieldOperator, Message: "No operator is connected. Nothing was recorded."}
}

// doItem creates a recharge from a record of a batch, and waits at most defaultWait for its final state. Without the
// wait, a batch would flood operators that answer "pending" at once. If the recharge takes longer, it continues
// without a slot of the batch.
func (s *Service) doItem(ctx context.Context, of item.Item) error {
	// If the operator is unavailable, the item is retried. If no connection serves the operator, the item is rejected.
	by := transaction.Rejection{Final: fieldOperator, MaxAge: maxRetryAge}
	return s.Core.DoItem(ctx, of, by, func(ctx context.Context, from transaction.Origin) error {
		r, err := request.Parse(of.Record)
		if err == nil {
			r.Origin = from
			_, _, err = s.Do(ctx, r, defaultWait)
		}
		return err
	})
}

// maxRetryAge is the maximum age of a batch whose items are retried while their operator is unavailable. After that
// time, clients no longer expect the recharges.
const maxRetryAge = 24 * time.Hour

// renderItems renders recharges for replies about batches.
func renderItems(q sqlstore.Querier, o schema.Owner, batchID string, from, to int) (map[string]any, error) {
	return record.Table.RenderItems(q, o, batchID, from, to, kind.Reply)
}
