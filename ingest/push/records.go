package push

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/ingest"
	"vayu/schema"
	"vayu/schema/air"
)

// Record is one message of a stream, with readings of one account.
type Record struct {
	Account string
	World   schema.World
	// Type is the media type of the body, or "" for JSON or NDJSON.
	Type string
	// Station is the station of the readings that name no station themselves, or "" if there is none.
	Station string
	Body    []byte
}

// Result is the outcome of storing a Record.
type Result struct {
	Stored int
	Newest time.Time // end of the newest stored averaging interval; zero for none
	// Rejected are the rejected readings in order. They exclude readings without a value.
	Rejected []RejectedReading
	// Missing is the number of readings without a value.
	Missing int
}

// RejectedReading is a reading of a Record that is not stored. Its index is -1 if the whole body cannot be read.
type RejectedReading struct {
	air.RejectedReading

	Raw []byte // the reading as the client sent it; the whole body if its part in the body is unknown
}

// Runs has the ID of the current run of the source [Source] in each world.
type Runs [len(schema.Worlds)]uint64

// StoreRecords stores the valid readings of records durably. The results are in the order of the records. It is
// idempotent, so the caller can store the same records again after an error.
func (s *Service) StoreRecords(ctx context.Context, runs Runs, records []Record) ([]Result, error) {
	results := make([]Result, len(records))
	now := s.now()
	owners, decoded := decodeRecords(records)
	groups := make([][]*request, len(s.worlds))
	for _, of := range owners {
		rows := decoded[of]
		known, err := s.worlds[of.world].stationsOf(ctx, of.account, rows, now)
		if err != nil {
			return nil, fmt.Errorf("reading the stations of account %s: %w", of.account, err)
		}
		p := pushed{now: now}
		for i := range rows {
			s.count(&p, &rows[i], known, &results[rows[i].record], records)
		}
		if len(p.readings) > 0 {
			groups[of.world] = append(groups[of.world], &request{readings: p.readings, now: now, run: runs[of.world]})
		}
	}
	for w, group := range groups {
		if len(group) == 0 {
			continue
		}
		if err := s.worlds[w].committer.storeGroup(ctx, group); err != nil {
			return nil, fmt.Errorf("storing readings of the %s world: %w", schema.World(w), err)
		}
	}
	s.countAll(results)
	return results, nil
}

// owner is an account in one world (live or sandbox). The account has separate stations and readings in each world.
type owner struct {
	world   schema.World
	account string
}

// decodeRecords returns the owners in the order of their first records, and the rows of each owner. The order is fixed,
// so that the batches of a retry equal those of the first attempt.
func decodeRecords(records []Record) (owners []owner, decoded map[owner][]row) {
	counts := make(map[owner]int)
	for i := range records {
		counts[owner{records[i].World, records[i].Account}]++
	}
	decoded = make(map[owner][]row, len(counts))
	for i := range records {
		of := owner{records[i].World, records[i].Account}
		rows, seen := decoded[of]
		if !seen {
			owners = append(owners, of)
			rows = make([]row, 0, counts[of])
		}
		decoded[of] = decodeRecord(rows, &records[i], i)
	}
	return owners, decoded
}

// count adds a row to p if the row is valid. In `result`, it counts the row as stored, missing or rejected.
func (s *Service) count(p *pushed, r *row, known map[string]*station, result *Result, records []Record) {
	wrong := p.add(r, known)
	switch {
	case wrong == nil:
		result.Stored++
		if at := p.readings[len(p.readings)-1].At; at.After(result.Newest) {
			result.Newest = at
		}
	case wrong.reason == ingest.MissingValue:
		result.Missing++
	default:
		raw := r.raw
		if raw == nil {
			raw = records[r.record].Body
		}
		result.Rejected = append(result.Rejected, RejectedReading{
			air.RejectedReading{Index: r.index, Reason: string(wrong.reason), Field: wrong.field, Message: wrong.message}, raw,
		})
	}
}

// countAll adds the numbers of stored, missing and rejected readings to the metrics.
func (s *Service) countAll(results []Result) {
	counts := make(map[string]int)
	for i := range results {
		counts[accepted] += results[i].Stored
		counts[string(ingest.MissingValue)] += results[i].Missing
		for _, rejected := range results[i].Rejected {
			counts[rejected.Reason]++
		}
	}
	for outcome, n := range counts {
		s.metrics.readings.WithLabelValues(outcome).Add(float64(n))
	}
}

// decodeRecord appends a record's rows, or one row with the fault of an invalid body. `number` is the record's index.
func decodeRecord(rows []row, r *Record, number int) []row {
	first := len(rows)
	rows, err := r.appendRows(rows)
	if err != nil {
		wrong := &fault{reason: ingest.BadReply, message: err.Error()}
		if problem, ok := errors.AsType[*schema.Problem](err); ok {
			wrong.field, wrong.message = problem.Field, problem.Message
		}
		return append(rows, row{fault: wrong, record: number, index: -1})
	}
	for i := range rows[first:] {
		one := &rows[first+i]
		one.record, one.index = number, i
		if one.Station == "" && one.fault == nil {
			one.Station = r.Station
		}
	}
	return rows
}

// appendRows decodes the body and appends its rows. Without a media type, the body is a single reading, NDJSON, or an
// object with the array `readings`.
func (r *Record) appendRows(rows []row) ([]row, error) {
	mediaType, body := r.Type, r.Body
	switch mediaType {
	case "":
		body = bytes.TrimSpace(body)
		line, _, several := bytes.Cut(body, []byte{'\n'})
		switch {
		case several && jsontext.Value(line).IsValid():
			mediaType = ndjsonType
		case !bytes.Contains(body, []byte(`"readings"`)):
			rows = append(rows, row{raw: r.Body})
			rows[len(rows)-1].decodeObject(body)
			return rows, nil
		}
	case "application/json":
		mediaType = ""
	case ndjsonType, csvType, arrowType:
	default:
		return rows, fmt.Errorf("the content type %.60q is not supported", r.Type)
	}
	added, err := decode(mediaType, body)
	return append(rows, added...), err
}
