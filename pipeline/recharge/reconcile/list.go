package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// PendingMost is how long a recharge may be pending before people look at it
// (CONTRACT 4).
const PendingMost = 24 * time.Hour

// Entry is a recharge that people must look at.
type Entry struct {
	Record
	// Why is "pending", or its alarm.
	Why string
}

// pageMost is how many are asked for at once: a question may not take long.
const pageMost = 500

// The world is no condition of these: SQLite, which does not know how few rows their
// indices have, would go along one that begins with it.
const (
	selectPending = columnsOf + `WHERE state = 'pending' AND (account_id, mode, id) > ($1, $2, $3)
		AND id < $4 AND created_at <= $5 ORDER BY account_id, mode, id LIMIT $6`
	selectAlarms = columnsOf + "WHERE alarm <> '' AND resolved_at IS NULL AND (alarm, id) > ($1, $2) ORDER BY alarm, id LIMIT $3"
)

// List tells of every recharge of some worlds that people must look at: those that
// have been pending for too long, by account, and then those with an open alarm. The
// error of tell ends it and is returned.
func List(ctx context.Context, db *sqlstore.DB, worlds []schema.World, now time.Time, tell func(Entry) error) error {
	one := func(r Record, why string) error {
		if !slices.Contains(worlds, r.Owner.World) {
			return nil
		}
		return tell(Entry{r, why})
	}
	old := now.Add(-PendingMost)
	var last Record
	mode := "" // of the last; before every other when there is none
	err := pages(func() ([]Record, error) {
		return sqlstore.All(db.View(ctx), scan, selectPending, last.Owner.Account, mode, last.ID, idsFrom(old.Add(slack)), old.UnixMicro(), pageMost)
	}, func(r Record) error {
		last, mode = r, r.Owner.World.String()
		return one(r, string(r.State))
	})
	if err != nil {
		return fmt.Errorf("listing what is pending: %w", err)
	}
	last = Record{}
	err = pages(func() ([]Record, error) {
		return sqlstore.All(db.View(ctx), scan, selectAlarms, last.Alarm, last.ID, pageMost)
	}, func(r Record) error {
		last = r
		return one(r, r.Alarm)
	})
	if err != nil {
		return fmt.Errorf("listing alarms: %w", err)
	}
	return nil
}

// pages asks until a page is not full.
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
		if len(page) < pageMost {
			return nil
		}
	}
}
