package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// duplicate is a record with the ref_id of an earlier record of its batch.
type duplicate struct {
	index, first int // of the record, and of the first one with its ref_id
}

// duplicateRecord is a record to reject, because the record at index first has its ref_id.
type duplicateRecord struct {
	record

	first int
}

// duplicatesMark starts the stored text of a chunk with duplicates: the mark, pairs
// "index:first" with commas between, a line feed, and the records. JSON cannot start with the
// mark. A chunk without duplicates has only its records.
const duplicatesMark = 1

// text returns the stored text of a chunk.
func (p *chunkRange) text(body []byte) []byte {
	records := body[p.from:p.to]
	if len(p.duplicates) == 0 {
		return records
	}
	text := make([]byte, 0, 1+12*len(p.duplicates)+len(records))
	text = append(text, duplicatesMark)
	for i, d := range p.duplicates {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(d.index), 10)
		text = append(text, ':')
		text = strconv.AppendInt(text, int64(d.first), 10)
	}
	return append(append(text, '\n'), records...)
}

var errDuplicates = errors.New("the list of duplicates is damaged")

// cutDuplicates splits the stored text of a chunk into its records and its duplicates. The
// map has the index of the first record with the same ref_id, by the index of the
// duplicate.
func cutDuplicates(text []byte) (records []byte, duplicates map[int]int, err error) {
	if len(text) == 0 || text[0] != duplicatesMark {
		return text, nil, nil
	}
	list, records, found := bytes.Cut(text[1:], []byte("\n"))
	if !found {
		return nil, nil, errDuplicates
	}
	duplicates = map[int]int{}
	for pair := range strings.SplitSeq(string(list), ",") {
		left, right, _ := strings.Cut(pair, ":")
		index, err := strconv.Atoi(left)
		if err != nil {
			return nil, nil, errDuplicates
		}
		if duplicates[index], err = strconv.Atoi(right); err != nil {
			return nil, nil, errDuplicates
		}
	}
	return records, duplicates, nil
}

// insertRefusals inserts the rows of several rejected records into batch_item.
var insertRefusals = sqlstore.NewBatchStatement(1, "INSERT INTO batch_item (batch_id, place, subject, outcome, refusal) VALUES ",
	"($1, ?, '', 'failed', ?)", " ON CONFLICT (batch_id, place) DO NOTHING")

// refuseDuplicates rejects the duplicates of a chunk in one short transaction with few
// statements, and counts them together. It is idempotent.
func (w *worker) refuseDuplicates(ctx context.Context, c *chunk, all []duplicateRecord) error {
	texts := make([][]byte, len(all))
	for i, d := range all {
		why := schema.NewProblem(schema.DuplicateRefID, "ref_id", fmt.Sprintf("Record %d of this batch has this ref_id.", d.first))
		var err error
		if texts[i], err = json.Marshal(refusal{RefID: refOf(d.value), Error: *why}); err != nil {
			return fmt.Errorf("encoding the error of record %d of %s: %w", d.index, c.batch, err)
		}
	}
	return w.DB.Update(sqlstore.WithWorld(ctx, c.owner.World), func(tx *sqlstore.Tx) error {
		refused := int64(0)
		err := insertRefusals.Each(len(all), func(text string, from, to int) error {
			args := append(make([]any, 0, 1+2*(to-from)), c.batch)
			for i := from; i < to; i++ {
				args = append(args, all[i].index, texts[i])
			}
			n, err := tx.Exec(text, args...)
			refused += n
			return err
		})
		if err != nil {
			return fmt.Errorf("rejecting duplicates of %s: %w", c.batch, err)
		}
		if refused == 0 {
			return nil
		}
		done, err := count(tx, w.Now(), c.batch, 0, int(refused))
		if err != nil || done == nil || w.kind.Completed == nil {
			return err
		}
		return w.kind.Completed(tx, done)
	})
}
