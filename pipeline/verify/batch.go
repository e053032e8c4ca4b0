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
	"vayu/pipeline/listing"
	"vayu/schema"
)

const (
	batchPath = "/v1/verification/batch"
	// resultsKept is how long the results of a batch can be asked for (CONTRACT 5).
	resultsKept = 7 * 24 * time.Hour
	// itemWait is how long a record holds a place of its batch: as long as banks that
	// answer at once take. What takes longer goes on without it.
	itemWait = 800 * time.Millisecond
)

// BatchKind is how verifications come in batches. A record is the same as a body of
// POST /v1/bank/verify.
func (s *Service) BatchKind() batch.Kind {
	return batch.Kind{
		Name: "verification", Prefix: "bat_", Array: "records", Path: batchPath,
		Write: schema.VerifyWrite, Read: schema.VerifyRead, Keep: resultsKept, ResultsURL: s.resultsURL,
		Do: s.doItem, Ready: s.requireBank, Completed: s.bulkCompleted, Show: show, Room: s.Settings.BatchRoom,
	}
}

// resultsURL is where the results of a batch are. It is made of what is configured,
// never of what a client says about where it is.
func (s *Service) resultsURL(id string) string {
	return s.PublicURL() + batchPath + "/" + id + "/results"
}

// requireBank demands that a world has a bank at all: without one each record would fail
// by itself, for a caller who has left.
func (s *Service) requireBank(world schema.World) error {
	if slices.ContainsFunc(s.connections, func(l *connection) bool { return l.World == world }) {
		return nil
	}
	return &schema.Problem{Code: schema.ServiceUnavailable, Field: fieldMethod, Message: "No bank is connected here. Nothing was recorded."}
}

// doItem makes a verification of a record, and waits for it a little: so a batch does
// not run ahead of banks that answer at once.
func (s *Service) doItem(ctx context.Context, item batch.Item) error {
	r, err := recordOf(item.Record)
	if err == nil {
		r.Owner = item.Owner
		r.By.Key, r.By.Request, r.By.Client = item.Key, item.Request, item.Client
		r.Item = &Place{Batch: item.Batch, Index: item.Index}
		_, _, err = s.Do(ctx, r, itemWait, false)
	}
	why, refused := errors.AsType[*schema.Problem](err)
	if !refused {
		return err
	}
	// What is away will be back, and the record comes again; what nobody does will not.
	if why.Field != fieldMethod && why.Code.Status() == http.StatusServiceUnavailable {
		old, failed := s.waitedLong(ctx, item.Batch)
		if !old {
			return errors.Join(err, failed)
		}
	}
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		now := s.Now()
		done, err := batch.Refuse(tx, now, item, why)
		if err != nil || done == nil {
			return err
		}
		return s.bulkCompleted(tx, done)
	})
}

// waitedLong reports whether a batch was made longer ago than banks are asked for.
func (s *Service) waitedLong(ctx context.Context, id string) (bool, error) {
	var made int64
	err := s.DB.View(ctx).QueryRow("SELECT created_at FROM batch WHERE id = $1", id).Scan(&made)
	return err == nil && s.Now().Sub(time.UnixMicro(made)) > s.Settings.GiveUp, err
}

// recordOf is requestOf for what may be any JSON value.
func recordOf(record jsontext.Value) (Request, error) {
	if record.Kind() != jsontext.KindBeginObject {
		return Request{}, schema.Refuse(schema.InvalidRequest, "", "A record must be a JSON object.")
	}
	r, _, err := requestOf(record)
	return r, err
}

// results are verifications with what replies about batches show of them: reading a
// column costs as much as writing it.
var results = listing.Table[Record]{Name: "verification", Columns: replyColumns, Scan: scanReply, Of: verifications.Of}

// show renders verifications as replies about batches show them.
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
