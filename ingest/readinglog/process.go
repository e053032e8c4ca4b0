package readinglog

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/segmentio/kafka-go"

	"vayu/ingest"
	"vayu/ingest/push"
	"vayu/ingest/runner"
	"vayu/ingest/stream"
	"vayu/internal/topic"
	"vayu/schema"
)

// Headers of a Kafka record.
const (
	headerAccount     = "account"      // id of the account; without it the key is the id
	headerMode        = "mode"         // live or sandbox; live if absent
	headerContentType = "content-type" // media type of the body; JSON or NDJSON if absent
)

// Headers that this package adds to a dead letter. Package topic adds further headers.
const (
	headerField = "dead-field" // field of the first rejected reading
	headerRow   = "dead-row"   // position of that reading in the record, from 0; -1 for the whole record
	headerRows  = "dead-rows"  // number of rejected readings
)

// accountID matches account ids. Without headerAccount, a matching message key is the account; any other is a station.
var accountID = regexp.MustCompile(`^acc_[0-9A-Za-z]{1,60}$`)

// process stores a batch of records. A record that cannot be read becomes a dead letter. So does a record with a
// rejected reading, after its valid readings are stored.
func (l *Log) process(ctx context.Context, batch []kafka.Message) (dead []topic.Dead, err error) {
	b := &processing{Log: l}
	records := make([]push.Record, 0, len(batch))
	of := make([]int, 0, len(batch)) // for each element of `records`, its index in `batch`
	for i := range batch {
		record, wrong, err := l.record(ctx, &batch[i])
		switch {
		case err != nil:
			b.failed(err)
			return nil, err
		case wrong != nil:
			b.refuse(&batch[i], schema.Live, wrong)
			continue
		}
		records, of = append(records, record), append(of, i)
		b.received(&batch[i], record.World)
	}
	results, err := l.store.StoreRecords(ctx, b.ids, records)
	if err != nil {
		b.failed(err)
		return nil, err
	}
	for n := range results {
		b.add(&batch[of[n]], records[n].World, &results[n])
	}
	b.done()
	return b.dead, nil
}

// wrong is the reason why a record cannot be read at all.
type wrong struct {
	reason         ingest.Reason
	field, message string
}

// record returns the body of a message with its account, world, station and media type. It decodes no readings.
func (l *Log) record(ctx context.Context, m *kafka.Message) (push.Record, *wrong, error) {
	r := push.Record{Body: m.Value, World: schema.Live}
	for _, h := range m.Headers {
		switch h.Key {
		case headerAccount:
			r.Account = string(h.Value)
		case headerContentType:
			r.Type = string(h.Value)
		case headerMode:
			switch string(h.Value) {
			case schema.Live.String():
			case schema.Sandbox.String():
				r.World = schema.Sandbox
			default:
				return r, &wrong{ingest.BadLine, headerMode, fmt.Sprintf("the mode %.20q is neither live nor sandbox", h.Value)}, nil
			}
		}
	}
	if r.Account == "" && accountID.Match(m.Key) {
		r.Account = string(m.Key)
	} else {
		r.Station = string(m.Key)
	}
	if !accountID.MatchString(r.Account) {
		return r, &wrong{ingest.UnknownAccount, headerAccount, "neither the header account nor the key is the id of an account"}, nil
	}
	exists, err := l.accounts.exist(ctx, r.Account)
	if err == nil && !exists {
		return r, &wrong{ingest.UnknownAccount, headerAccount, fmt.Sprintf("there is no account %s", r.Account)}, nil
	}
	return r, nil, err
}

// processing collects the results of a batch for each world.
type processing struct {
	*Log

	ids    push.Runs
	began  [len(schema.Worlds)]bool
	got    [len(schema.Worlds)]stream.Received
	bodies [len(schema.Worlds)][][]byte
	dead   []topic.Dead
}

// received counts a message in the run of a world. The first message of a world in a batch begins or continues a run.
func (b *processing) received(m *kafka.Message, w schema.World) {
	if !b.began[w] {
		b.began[w] = true
		b.ids[w] = b.runs[w].Begin()
	}
	b.got[w].Messages++
	b.bodies[w] = append(b.bodies[w], m.Value)
}

// refuse counts a message that cannot be read, and makes it a dead letter.
func (b *processing) refuse(m *kafka.Message, w schema.World, why *wrong) {
	b.received(m, w)
	b.got[w].Reject(why.reason, why.field, 0, m.Value)
	b.deadLetter(m, string(why.reason), why.field, why.message, -1, 1)
}

// add counts the readings of a message. If some were rejected, the message becomes a dead letter.
func (b *processing) add(m *kafka.Message, w schema.World, result *push.Result) {
	got := &b.got[w]
	got.Stored += result.Stored
	if result.Newest.After(got.Newest) {
		got.Newest = result.Newest
	}
	if result.Missing > 0 {
		got.Rejected.Add(ingest.MissingValue, result.Missing)
	}
	for i := range result.Rejected {
		one := &result.Rejected[i]
		got.Reject(ingest.Reason(one.Reason), one.Field, one.Index+1, one.Raw)
	}
	if len(result.Rejected) > 0 {
		first := &result.Rejected[0]
		b.deadLetter(m, first.Reason, first.Field, first.Message, first.Index, len(result.Rejected))
	}
}

// deadLetter adds a dead letter. `row` and `rows` are the values of the headers headerRow and headerRows.
func (b *processing) deadLetter(m *kafka.Message, reason, field, message string, row, rows int) {
	b.dead = append(b.dead, topic.Dead{Message: *m, Reason: reason, Err: errors.New(message), Headers: []kafka.Header{
		{Key: headerField, Value: []byte(field)},
		{Key: headerRow, Value: strconv.AppendInt(nil, int64(row), 10)},
		{Key: headerRows, Value: strconv.AppendInt(nil, int64(rows), 10)},
	}})
}

func (b *processing) done() {
	for w, began := range b.began {
		if began {
			b.runs[w].Done(&b.got[w], b.bodies[w]...)
		}
	}
}

func (b *processing) failed(err error) {
	for w, began := range b.began {
		if began {
			b.runs[w].Failed(runner.StoreFailed, err)
		}
	}
}
