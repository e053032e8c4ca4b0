package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// MaxPending is the age from which a pending recharge needs an investigation.
const MaxPending = 24 * time.Hour

// Entry is a recharge that needs an investigation.
type Entry struct {
	Record
	// Why is "pending", or the alarm of the recharge.
	Why string
}

// pageSize limits the rows of a query, so that each query is short.
const pageSize = 500

// The queries have no condition on the world (live or sandbox). With such a condition, SQLite would
// choose an index that begins with the world. SQLite does not see that the partial indexes for
// these queries have few rows.
const (
	selectPending = columnsOf + `WHERE state = 'pending' AND (account_id, mode, id) > ($1, $2, $3)
		AND id < $4 AND created_at <= $5 ORDER BY account_id, mode, id LIMIT $6`
	selectAlarms = columnsOf + "WHERE alarm <> '' AND resolved_at IS NULL AND (alarm, id) > ($1, $2) ORDER BY alarm, id LIMIT $3"
)

// List calls tell for each recharge of the given worlds that needs an investigation. First come the
// recharges that are pending for MaxPending or longer, by account. Then come the recharges with an
// open alarm. If tell fails, List returns the error of tell.
func List(ctx context.Context, db *sqlstore.DB, worlds []schema.World, now time.Time, tell func(Entry) error) error {
	one := func(r Record, why string) error {
		if !slices.Contains(worlds, r.Owner.World) {
			return nil
		}
		return tell(Entry{r, why})
	}
	old := now.Add(-MaxPending)
	var last Record
	mode := "" // world of the last record; "" before the first record
	err := pages(func() ([]Record, error) {
		return sqlstore.All(db.View(ctx), scan, selectPending, last.Owner.Account, mode, last.ID, idsFrom(old.Add(clockMargin)), old.UnixMicro(), pageSize)
	}, func(r Record) error {
		last, mode = r, r.Owner.World.String()
		return one(r, string(r.State))
	})
	if err != nil {
		return fmt.Errorf("listing pending recharges: %w", err)
	}
	last = Record{}
	err = pages(func() ([]Record, error) {
		return sqlstore.All(db.View(ctx), scan, selectAlarms, last.Alarm, last.ID, pageSize)
	}, func(r Record) error {
		last = r
		return one(r, r.Alarm)
	})
	if err != nil {
		return fmt.Errorf("listing alarms: %w", err)
	}
	return nil
}

// pages reads pages with the function ask, and calls tell for each record. It ends after a page
// that is not full.
func pages(ask func() ([]Record, error), tell func(Record) error) error {
	for {
		page, err := ask()
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := tell(r); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
	}
}
