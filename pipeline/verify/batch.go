package verify

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/sqlstore"
	"vayu/pipeline/batch"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

const (
	batchPath = "/v1/verification/batch"
	// resultsKept is the retention of the results of a batch (CONTRACT 5).
	resultsKept = 7 * 24 * time.Hour
	// itemWait is how long a record counts as in flight among batch records. Fast banks answer
	// within it. A slower verification continues, and the next record begins.
	itemWait = 800 * time.Millisecond
)

// BatchKind describes batches of verifications. A record has the form of a body of POST
// /v1/bank/verify.
func (s *Service) BatchKind() batch.Kind {
	return batch.Kind{
		Name: "verification", Prefix: "bat_", Array: "records", Path: batchPath,
		Write: schema.VerifyWrite, Read: schema.VerifyRead, Retention: resultsKept, ResultsURL: s.resultsURL,
		Do: s.doItem, Ready: s.requireBank, Completed: s.bulkCompleted, Render: show, Concurrency: s.Settings.BatchRoom,
	}
}

// resultsURL returns the URL of the results of a batch. It uses the configured base URL, never
// one from a client.
func (s *Service) resultsURL(id string) string {
	return s.PublicURL() + batchPath + "/" + id + "/results"
}

// requireBank refuses a batch if its world (live or sandbox) has no bank. Otherwise each record
// would be refused later, when the client no longer waits.
func (s *Service) requireBank(world schema.World) error {
	if slices.ContainsFunc(s.connections, func(l *connection) bool { return l.World == world }) {
		return nil
	}
	return &schema.Problem{Code: schema.ServiceUnavailable, Field: fieldMethod, Message: "No bank is connected here. Nothing was recorded."}
}

// doItem verifies a batch record and waits up to itemWait. The wait keeps a batch from creating
// verifications faster than a fast bank answers.
func (s *Service) doItem(ctx context.Context, item batch.Item) error {
	r, err := recordOf(item.Record)
	if err == nil {
		r.Owner = item.Owner
		r.Caller.Key, r.Caller.Request, r.Caller.Client = item.Key, item.Request, item.Client
		r.Item = &BatchItem{Batch: item.Batch, Index: item.Index}
		_, _, err = s.Do(ctx, r, itemWait, false)
	}
	why, refused := errors.AsType[*schema.Problem](err)
	if !refused {
		return err
	}
	// A temporary refusal is retried until the record is too old. A method without a bank is final.
	if why.Field != fieldMethod && why.Code.Status() == http.StatusServiceUnavailable {
		old, failed := s.waitedLong(ctx, item.Batch)
		if !old {
			return errors.Join(err, failed)
		}
	}
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		now := s.Now()
		done, err := batch.Reject(tx, now, item, why)
		if err != nil || done == nil {
			return err
		}
		return s.bulkCompleted(tx, done)
	})
}

// waitedLong reports whether a batch is older than Settings.GiveUp.
func (s *Service) waitedLong(ctx context.Context, id string) (bool, error) {
	var made int64
	err := s.DB.View(ctx).QueryRow("SELECT created_at FROM batch WHERE id = $1", id).Scan(&made)
	return err == nil && s.Now().Sub(time.UnixMicro(made)) > s.Settings.GiveUp, err
}

// recordOf reads a batch record as requestOf reads a body. A record may be any JSON value.
func recordOf(record jsontext.Value) (Request, error) {
	if record.Kind() != jsontext.KindBeginObject {
		return Request{}, schema.NewProblem(schema.InvalidRequest, "", "A record must be a JSON object.")
	}
	r, _, err := requestOf(record)
	return r, err
}

// results reads verifications for replies about batches. It omits the columns that such replies
// do not show, because each column takes time to read.
var results = transaction.Table[Record]{Name: "verification", Columns: replyColumns, Scan: scanReply, Of: verifications.Of}

// show returns the verifications of the records [from, to) of a batch as replies show them, by id.
func show(q sqlstore.Querier, o schema.Owner, batchID string, from, to int) (map[string]any, error) {
	found, err := results.OfBatch(q, batchID, from, to)
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(found))
	for id, r := range found {
		if r.Owner == o {
			out[id] = toWire(&r)
		}
	}
	return out, nil
}
