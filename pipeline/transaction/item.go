package transaction

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// Rejection defines which problems reject a batch item, and how long an item is retried after other problems.
type Rejection struct {
	// Final is the Problem.Field of the problems with status 503 that reject an item. After any other 503, the item is
	// retried until its batch is older than MaxAge. A problem with another status always rejects the item.
	Final  string
	MaxAge time.Duration
	// Completed is called if the rejection completes the batch, because no other item is open. It may be nil.
	Completed func(*sqlstore.Tx, *item.Finished) error
}

// DoItem creates the transaction of a batch item through the function `do`. If `do` fails, `by` defines whether DoItem
// rejects the item. A record that is not a JSON object is rejected. To retry an item, DoItem returns an error.
func (c *Core[R, P]) DoItem(ctx context.Context, of item.Item, by Rejection, do func(context.Context, Origin) error) error {
	var err error
	if jsontext.Value(of.Record).Kind() == jsontext.KindBeginObject {
		err = do(ctx, Origin{
			Owner: of.Owner, Caller: httpapi.Who{Key: of.Key, Request: of.Request, Client: of.Client}, Item: &BatchItem{of.Batch, of.Index},
		})
	} else {
		err = schema.NewProblem(schema.InvalidRequest, "", "A record must be a JSON object.")
	}
	problem, rejected := errors.AsType[*schema.Problem](err)
	if !rejected {
		return err
	}
	if problem.Field != by.Final && problem.Code.Status() == http.StatusServiceUnavailable {
		old, failed := c.isOlder(ctx, of.Batch, by.MaxAge)
		if !old {
			return errors.Join(err, failed)
		}
	}
	return c.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		done, err := item.Reject(tx, c.Now(), of, problem)
		if err != nil || done == nil || by.Completed == nil {
			return err
		}
		return by.Completed(tx, done)
	})
}

func (c *Core[R, P]) isOlder(ctx context.Context, id string, age time.Duration) (bool, error) {
	var made int64
	err := c.DB.View(ctx).QueryRow("SELECT created_at FROM batch WHERE id = $1", id).Scan(&made)
	return err == nil && c.Now().Sub(time.UnixMicro(made)) > age, err
}

// RenderItems returns the transactions that an owner's batch created from its records [from, to). The keys of the map
// are the ids of the transactions. The function `reply` converts a transaction to its form in replies.
func (t *Table[R, P]) RenderItems(q sqlstore.Querier, o schema.Owner, batchID string, from, to int,
	reply func(P) any,
) (map[string]any, error) {
	found := make(map[string]R, to-from)
	if err := sqlstore.Each(q, t.into(found), t.ofRecords(), batchID, from, to); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(found))
	for id, r := range found {
		if P(&r).Shared().Owner == o {
			out[id] = reply(&r)
		}
	}
	return out, nil
}

// BeginItem begins the batch item of a new transaction. The error is ErrExists if the item has begun before, or was
// rejected. BeginItem does nothing for a transaction without an item.
func BeginItem(tx *sqlstore.Tx, b *Base) error {
	if !b.InBatch() {
		return nil
	}
	begun, err := item.Begin(tx, item.Item{Batch: b.Batch.Batch, Index: b.Batch.Index, Owner: b.Owner}, b.ID)
	if err == nil && !begun {
		err = ErrExists
	}
	return err
}
