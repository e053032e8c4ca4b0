package batch

import (
	"context"
	"encoding/json"
	"fmt"

	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// duplicateRecord is a record to reject, because an earlier record has the same ref_id.
type duplicateRecord struct {
	record

	first int
}

// insertRefusals inserts several rejected records into batch_item.
var insertRefusals = sqlstore.NewBatchStatement(1, "INSERT INTO batch_item (batch_id, place, subject, outcome, refusal) VALUES ",
	"($1, ?, '', 'failed', ?)", " ON CONFLICT (batch_id, place) DO NOTHING")

// refuseDuplicates rejects the duplicates of a chunk in one short transaction with few statements,
// and counts them as failed. It is idempotent.
func (w *worker) refuseDuplicates(ctx context.Context, c *chunk, all []duplicateRecord) error {
	texts := make([][]byte, len(all))
	for i, d := range all {
		why := schema.NewProblem(schema.DuplicateRefID, "ref_id", fmt.Sprintf("Record %d of this batch has this ref_id.", d.first))
		var err error
		if texts[i], err = json.Marshal(item.Refusal{RefID: item.RefOf(d.value), Error: *why}); err != nil {
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
		done, err := item.Count(tx, w.Now(), c.batch, 0, int(refused))
		if err != nil || done == nil || w.kind.Completed == nil {
			return err
		}
		return w.kind.Completed(tx, done)
	})
}
