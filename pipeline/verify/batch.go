package verify

import (
	"context"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

const (
	batchPath = "/v1/verification/batch"
	// resultsKept is how long the results of a batch are kept.
	resultsKept = 7 * 24 * time.Hour
	// itemWait limits each of two waits of a batch record: for a slot of the bank, and for the end of its
	// verification. A verification that takes longer continues without occupying a slot of the batch.
	itemWait = 800 * time.Millisecond
)

// BatchKind describes batches of verifications. A record has the form of a body of POST /v1/bank/verify.
func (s *Service) BatchKind() item.Kind {
	return item.Kind{
		Name: "verification", Prefix: "bat_", Array: "records", Path: batchPath,
		Write: schema.VerifyWrite, Read: schema.VerifyRead, Retention: resultsKept, ResultsURL: s.resultsURL,
		Do: s.doItem, Ready: s.requireBank, Completed: s.bulkCompleted, Render: show, Concurrency: s.settings.BatchRoom,
	}
}

// resultsURL returns the URL of the results of a batch. It uses the configured base URL, never one from a client.
func (s *Service) resultsURL(id string) string {
	return s.publicURL() + batchPath + "/" + id + "/results"
}

// requireBank returns an error for a batch if its world (live or sandbox) has no bank. Otherwise
// each record would fail later, when the client no longer waits.
func (s *Service) requireBank(world schema.World) error {
	if s.Core.Connected(world) {
		return nil
	}
	return &schema.Problem{Code: schema.ServiceUnavailable, Field: fieldMethod, Message: "No bank is connected. Nothing was recorded."}
}

// doItem creates the verification of a batch record and waits for its end, up to itemWait. Without the wait, a batch
// would create verifications faster than a bank can answer them.
func (s *Service) doItem(ctx context.Context, of item.Item) error {
	// A 503 whose field is fieldMethod (no bank serves the method) rejects the item. After any other 503 it is retried.
	by := transaction.Rejection{Final: fieldMethod, MaxAge: s.settings.GiveUp, Completed: s.bulkCompleted}
	return s.Core.DoItem(ctx, of, by, func(ctx context.Context, from transaction.Origin) error {
		r, _, err := request.Parse(of.Record)
		if err == nil {
			r.Origin = from
			_, _, err = s.Do(ctx, r, itemWait, false)
		}
		return err
	})
}

// results reads verifications for replies about batches. It omits columns that these replies do not show, because each
// column takes time to read.
var results = &transaction.Table[Record, *Record]{Name: "verification", Columns: replyColumns, Scan: scanReply}

// show returns the verifications of the records [from, to) of a batch as replies show them, by id.
func show(q sqlstore.Querier, o schema.Owner, batchID string, from, to int) (map[string]any, error) {
	return results.RenderItems(q, o, batchID, from, to, kind.Reply)
}
