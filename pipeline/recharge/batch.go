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

// BatchKind is how recharges come in batches. A record is the same as a body of
// POST /v1/recharge.
func (s *Service) BatchKind() batch.Kind {
	return batch.Kind{
		Name: "recharge", Prefix: "rbt_", Array: "recharges", Path: path + "/batch",
		Write: schema.RechargeWrite, Read: schema.RechargeRead,
		Do: s.doItem, Ready: s.connected, Show: show, Room: s.BatchShare,
	}
}

// connected demands that a world has a provider at all: without one each record would fail
// by itself, for a caller who has left.
func (s *Service) connected(world schema.World) error {
	if slices.ContainsFunc(s.lines, func(l *line) bool { return l.World == world }) {
		return nil
	}
	return &schema.Problem{Code: schema.OperatorUnavailable, Field: fieldOperator, Message: "No operator is connected here. Nothing was recorded."}
}

// doItem makes a recharge of a record, and waits for it as long as a reply would: so
// a batch does not run ahead of operators that answer at once. A recharge that is
// pending then goes on without it.
func (s *Service) doItem(ctx context.Context, item batch.Item) error {
	r, err := recordOf(item.Record)
	if err == nil {
		r.Owner = item.Owner
		r.By = httpapi.Who{Key: item.Key, Request: item.Request, Client: item.Client}
		r.Item = &Place{Batch: item.Batch, Index: item.Index}
		_, _, err = s.Do(ctx, r, defaultWait)
	}
	why, refused := errors.AsType[*schema.Problem](err)
	if !refused {
		return err
	}
	// What is away will be back, and the record comes again; whom nobody serves will not.
	if why.Field != fieldOperator && why.Code.Status() == http.StatusServiceUnavailable {
		old, failed := s.waitedLong(ctx, item.Batch)
		if !old {
			return errors.Join(err, failed)
		}
	}
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := batch.Refuse(tx, s.Now(), item, why)
		return err
	})
}

// awayMost is how long the records of a batch come again whose operator is away: who
// wants a recharge today does not want it next week.
const awayMost = 24 * time.Hour

// waitedLong reports whether a batch was made longer ago than that.
func (s *Service) waitedLong(ctx context.Context, id string) (bool, error) {
	var made int64
	err := s.DB.View(ctx).QueryRow("SELECT created_at FROM batch WHERE id = $1", id).Scan(&made)
	return err == nil && s.Now().Sub(time.UnixMicro(made)) > awayMost, err
}

// recordOf is requestOf for what may be any JSON value.
func recordOf(record jsontext.Value) (Request, error) {
	if record.Kind() != jsontext.KindBeginObject {
		return Request{}, schema.Refuse(schema.InvalidRequest, "", "A record must be a JSON object.")
	}
	return requestOf(record)
}

// show renders recharges as replies about batches show them.
func show(q sqlstore.Querier, o schema.Owner, batchID string, from, to int) (map[string]any, error) {
	found, err := recharges.OfBatch(q, batchID, from, to)
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(found))
	for id, r := range found {
		if r.Owner == o {
			out[id] = shown(&r)
		}
	}
	return out, nil
}
