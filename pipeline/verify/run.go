package verify

import (
	"context"
	"sync"
	"time"

	"vayu/internal/pause"
	"vayu/internal/state"
	"vayu/schema"
)

const (
	// countEvery is the time between two counts of what is pending.
	countEvery = time.Minute
	// deleteEvery is the time between two looks for what is too old.
	deleteEvery = 10 * time.Minute
	// deleteMost is how many are deleted in one transaction: some milliseconds, for
	// which others wait.
	deleteMost = 500
)

// Run asks banks about what is due, and deletes what is too old, until ctx ends; then
// it waits for the calls that are under way. What is not recorded by then is leased in
// the store, and asked about later.
func (s *Service) Run(ctx context.Context) error {
	if err := s.DB.Ready(ctx); err != nil {
		return nil //nolint:nilerr // it ended before there was anything to do
	}
	var loops sync.WaitGroup
	loops.Go(func() { s.every(ctx, countEvery, s.countPending) })
	loops.Go(func() { s.every(ctx, deleteEvery, s.deleteOld) })
	s.calls.Run(ctx)
	loops.Wait()
	return nil
}

// every does something again and again until ctx ends.
func (s *Service) every(ctx context.Context, span time.Duration, do func(context.Context)) {
	for {
		do(ctx)
		if !pause.For(ctx, span) {
			return
		}
	}
}

// tallyPending counts in one group: of groups by mode SQLite would read the whole
// table along an index that has them in order.
const tallyPending = `SELECT count(CASE WHEN mode = 'live' THEN 1 END), count(CASE WHEN mode = 'sandbox' THEN 1 END) FROM verification WHERE state = 'pending'`

// selectPending says who is asked about what is pending.
const selectPending = "SELECT mode || '', provider || '', count(*) FROM verification WHERE state = 'pending' GROUP BY 1, 2 ORDER BY 1, 2"

// countPending counts what is pending, and says of banks that are not configured any
// more that they are waited for.
func (s *Service) countPending(ctx context.Context) {
	var pending [len(schema.Worlds)]int64
	err := s.DB.View(ctx).QueryRow(tallyPending).Scan(&pending[schema.Live], &pending[schema.Sandbox])
	s.metrics.counts.Tell(ctx, err)
	if err != nil {
		return
	}
	for world := range pending {
		s.metrics.pending[world].Store(pending[world])
	}
	s.metrics.counts.Tell(ctx, state.Each(s.DB.View(ctx), func(row state.Scanner) error {
		var mode, provider string
		var n int64
		if err := row.Scan(&mode, &provider, &n); err != nil {
			return err
		}
		if s.lineOf(schema.WorldOf(mode), provider) == nil {
			s.Log.WarnContext(ctx, "verifications are pending with a bank that is not configured; they stay so until it is again",
				"provider", provider, "world", mode, "pending", n)
		}
		return nil
	}, selectPending))
}

// deleteRows deletes the oldest. Those of a batch stay as long as its results may be
// asked for.
const deleteRows = `DELETE FROM verification WHERE id IN (
	SELECT id FROM verification WHERE finished_at < $1 AND (batch_id = '' OR finished_at < $2) ORDER BY finished_at LIMIT $3)`

// deleteOld deletes what has been finished for longer than it is kept.
func (s *Service) deleteOld(ctx context.Context) {
	if s.Settings.Keep == 0 {
		return
	}
	single := s.Now().Add(-s.Settings.Keep)
	// A batch is completed when its last record has been given up, at the latest.
	batched := s.Now().Add(-max(s.Settings.Keep, resultsKept+s.Settings.GiveUp+24*time.Hour))
	for {
		var n int64
		err := s.DB.Update(ctx, func(tx *state.Tx) (err error) {
			n, err = tx.Exec(deleteRows, single.UnixMicro(), batched.UnixMicro(), deleteMost)
			return err
		})
		s.metrics.deletions.Tell(ctx, err)
		if err != nil {
			return
		}
		s.metrics.deleted.Add(float64(n))
		if n < deleteMost {
			return
		}
	}
}
