package verify

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

const (
	batchPath = "/v1/verification/batch"
	// resultsKept is the retention of the results of a batch.
	resultsKept = 7 * 24 * time.Hour
	// itemWait limits each of two waits of a batch record: for a slot of the bank, and for the end
	// of its verification. A slower verification continues without a slot for batch records.
	itemWait = 800 * time.Millisecond
)

// BatchKind describes batches of verifications. A record has the form of a body of POST
// /v1/bank/verify.
func (s *Service) BatchKind() item.Kind {
	return item.Kind{
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

// requireBank rejects a batch if its world (live or sandbox) has no bank. Otherwise each record
// would be rejected later, when the client no longer waits.
func (s *Service) requireBank(world schema.World) error {
	if slices.ContainsFunc(s.connections, func(l *connection) bool { return l.World == world }) {
		return nil
	}
	return &schema.Problem{Code: schema.ServiceUnavailable, Field: fieldMethod, Message: "No bank is connected here. Nothing was recorded."}
}

// doItem creates the verification of a batch record and waits for its end, up to itemWait. The wait
// keeps a batch from creating verifications faster than a fast bank answers.
func (s *Service) doItem(ctx context.Context, item item.Item) error {
	r, err := recordOf(item.Record)
	if err == nil {
		r.Owner = item.Owner
		r.Caller.Key, r.Caller.Request, r.Caller.Client = item.Key, item.Request, item.Client
		r.Item = &transaction.BatchItem{Batch: item.Batch, Index: item.Index}
		_, _, err = s.Do(ctx, r, itemWait, false)
	}
	// The error for a method without a bank is final.
	return s.FinishItem(ctx, item, err, transaction.Rejection{Final: fieldMethod, MaxAge: s.Settings.GiveUp, Completed: s.bulkCompleted})
}

// recordOf parses a batch record as a request. The record may be any JSON value.
func recordOf(record jsontext.Value) (request.Request, error) {
	if err := transaction.CheckItem(record); err != nil {
		return request.Request{}, err
	}
	r, _, err := request.Parse(record)
	return r, err
}

// results reads verifications for replies about batches. It omits the columns that such replies
// do not show, because each column takes time to read.
var results = &transaction.Table[Record, *Record]{Name: "verification", Columns: replyColumns, Scan: scanReply}

// show returns the verifications of the records [from, to) of a batch as replies show them, by id.
func show(q sqlstore.Querier, o schema.Owner, batchID string, from, to int) (map[string]any, error) {
	return results.RenderItems(q, o, batchID, from, to, kind.Reply)
}
