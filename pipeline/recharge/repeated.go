package recharge

import (
	"context"
	"database/sql"
	"errors"

	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/recharge/settle"
)

// selectIDByRef runs for every new recharge and rarely finds a row. Preparing it costs the
// engine less than preparing a statement with all columns.
const selectIDByRef = "SELECT id FROM recharge WHERE account_id = $1 AND mode = $2 AND ref_id = $3"

// findByRef returns the existing recharge with the ref_id of a request.
func (s *Service) findByRef(ctx context.Context, r *request.Request) (record.Record, bool, error) {
	view := s.DB.View(ctx)
	var id string
	err := view.QueryRow(selectIDByRef, r.Owner.Account, r.Owner.World.String(), r.RefID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return record.Record{}, false, nil
	}
	if err != nil {
		return record.Record{}, false, err
	}
	rec, found, err := record.Table.Get(view, id)
	if err != nil || !found {
		return record.Record{}, false, errors.Join(err, settle.ErrMissingRow(found))
	}
	same := rec.Type == r.Type && s.sameNumber(&rec, r.Number) && rec.RequestedOperator == r.RequestedOperator && rec.Amount == r.Amount
	return s.Repeated(rec, r.Item, same)
}
