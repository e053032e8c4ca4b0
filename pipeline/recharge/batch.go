package recharge

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch"
	"vayu/schema"
)

// BatchKind returns the batch kind of recharges. A record has the format of the body of
// POST /v1/recharge.
func (s *Service) BatchKind() batch.Kind {
	return batch.Kind{
		Name: "recharge", Prefix: "rbt_", Array: "recharges", Path: path + "/batch",
		Write: schema.RechargeWrite, Read: schema.RechargeRead,
		Do: s.doItem, Ready: s.connected, Render: renderItems, Concurrency: s.BatchShare,
	}
}

// connected rejects a batch if its world (live or sandbox) has no provider. Otherwise each
// record would fail after the client has left.
func (s *Service) connected(world schema.World) error {
	if slices.ContainsFunc(s.connections, func(conn *connection) bool { return conn.World == world }) {
		return nil
	}
	return &schema.Problem{Code: schema.OperatorUnavailable, Field: fieldOperator, Message: "No operator is connected here. Nothing was recorded."}
}

// doItem creates a recharge from a record and waits for it as long as a single request does.
// So a batch does not flood operators that answer at once. A recharge that is still pending
// then continues without occupying the item's slot.
func (s *Service) doItem(ctx context.Context, item batch.Item) error {
	r, err := recordOf(item.Record)
	if err == nil {
		r.Owner = item.Owner
		r.Caller = httpapi.Who{Key: item.Key, Request: item.Request, Client: item.Client}
		r.Item = &BatchItem{Batch: item.Batch, Index: item.Index}
		_, _, err = s.Do(ctx, r, defaultWait)
	}
	problem, rejected := errors.AsType[*schema.Problem](err)
	if !rejected {
		return err
	}
	// An unavailable operator is temporary, so the record is retried. An operator without
	// a connection is not.
	if problem.Field != fieldOperator && problem.Code.Status() == http.StatusServiceUnavailable {
		old, failed := s.isTooOld(ctx, item.Batch)
		if !old {
			return errors.Join(err, failed)
		}
	}
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := batch.Reject(tx, s.Now(), item, problem)
		return err
	})
}

// maxRetryAge is how long items of a batch are retried while their operator is
// unavailable. A recharge is no longer wanted after that.
const maxRetryAge = 24 * time.Hour

// isTooOld reports whether a batch is older than maxRetryAge.
func (s *Service) isTooOld(ctx context.Context, id string) (bool, error) {
	var made int64
	err := s.DB.View(ctx).QueryRow("SELECT created_at FROM batch WHERE id = $1", id).Scan(&made)
	return err == nil && s.Now().Sub(time.UnixMicro(made)) > maxRetryAge, err
}

// recordOf reads the request in a record of a batch, which may be any JSON value.
func recordOf(record jsontext.Value) (Request, error) {
	if record.Kind() != jsontext.KindBeginObject {
		return Request{}, schema.NewProblem(schema.InvalidRequest, "", "A record must be a JSON object.")
	}
	return requestOf(record)
}

// renderItems renders recharges for replies about batches.
func renderItems(q sqlstore.Querier, o schema.Owner, batchID string, from, to int) (map[string]any, error) {
	found, err := recharges.OfBatch(q, batchID, from, to)
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(found))
	for id, r := range found {
		if r.Owner == o {
			out[id] = replyOf(&r)
		}
	}
	return out, nil
}
