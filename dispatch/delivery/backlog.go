package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
)

const (
	// boundEvery is how often the service compares the number of a webhook's waiting deliveries with Config.Backlog.
	// The comparison reads one index entry for each waiting delivery, up to Config.Backlog. It reads rows of
	// deliveries only if more than Config.Backlog deliveries wait.
	boundEvery = 10 * time.Second
	// An endpoint is dead if it acknowledged nothing for deadAfter, while a delivery with a failed attempt was waiting.
	deadAfter = 10 * time.Minute
	// boundMost is the maximum number of a webhook's deliveries that are marked as failed after one comparison.
	boundMost = 10_000
)

const (
	selectBeyond = `SELECT due_at FROM delivery WHERE webhook_id = $1 AND state = 'waiting' ORDER BY due_at LIMIT 1 OFFSET $2`
	selectActive = "SELECT active <> 0 FROM webhook WHERE id = $1"
	// selectFailing reads the creation time of the oldest waiting delivery that had an attempt.
	selectFailing = "SELECT min(created_at) FROM delivery WHERE webhook_id = $1 AND state = 'waiting' AND attempts > 0"
	// selectAcknowledged reports whether a delivery was acknowledged after $2. The delivery may be an old one, because an
	// endpoint that works again gets its oldest deliveries first. The expression with `||` keeps planners from the index
	// on webhook_id, with all deliveries of the webhook. The index on finished_at finds the few after $2.
	selectAcknowledged = `SELECT EXISTS (SELECT 1 FROM delivery WHERE webhook_id || '' = $1 AND state = 'delivered' AND finished_at > $2)`
	countWaiting       = "SELECT count(*) FROM delivery WHERE webhook_id = $1 AND state = 'waiting'"
	// selectExcess reads the waiting deliveries without the newest $2. It is one statement, because another instance
	// may end deliveries meanwhile. It sorts all waiting deliveries, and runs only if they exceed Config.Backlog.
	selectExcess = `SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS age FROM delivery WHERE webhook_id = $1 AND state = 'waiting') waiting
		WHERE age > $2 ORDER BY id LIMIT $3`
	// recordBacklog adds $4 to the number of deliveries of a webhook that failed because of Config.Backlog.
	recordBacklog = `INSERT INTO webhook_backlog (webhook_id, reached_at, most, failed) VALUES ($1, $2, $3, $4)
		ON CONFLICT (webhook_id) DO UPDATE SET reached_at = excluded.reached_at, most = excluded.most, failed = webhook_backlog.failed + excluded.failed`
	deleteBacklog = "DELETE FROM webhook_backlog WHERE reached_at <= $1"
)

// failOldest marks deliveries as failed if they are waiting and have no unexpired lease. Clients can retry them like
// all failed deliveries.
var failOldest = sqlstore.NewBatchStatement(1, "UPDATE delivery SET state = 'failed', token = '', finished_at = $1 WHERE id IN (", "?",
	") AND state = 'waiting' AND (token = '' OR due_at <= $1)")

// bound limits the backlogs of paused and dead webhooks to Config.Backlog: it marks their oldest waiting deliveries as
// failed. It keeps the deliveries of other webhooks: their backlog exceeds the limit only if this service is slow.
// Several instances may call `bound` at the same time.
func (s *Service) bound(ctx context.Context) error {
	if s.Backlog == 0 {
		return nil
	}
	lanes, err := Lanes(s.DB.View(ctx))
	if err != nil {
		return err
	}
	for _, l := range lanes {
		var due int64
		err := s.DB.View(ctx).QueryRow(selectBeyond, l.Webhook, s.Backlog).Scan(&due)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		var dead bool
		if err == nil {
			dead, err = s.dead(ctx, l.Webhook)
		}
		if err == nil && dead {
			err = s.boundOne(ctx, l.Webhook)
		}
		if err != nil {
			return fmt.Errorf("bounding the backlog of %s: %w", l.Webhook, err)
		}
	}
	return nil
}

// dead reports whether a webhook is paused, or its endpoint is dead (see deadAfter).
func (s *Service) dead(ctx context.Context, webhook string) (bool, error) {
	view := s.DB.View(ctx)
	var active bool
	var failing sql.Null[int64]
	if err := view.QueryRow(selectActive, webhook).Scan(&active); err != nil || !active {
		return err == nil, err
	}
	before := s.Now().Add(-deadAfter).UnixMicro()
	if err := view.QueryRow(selectFailing, webhook).Scan(&failing); err != nil || !failing.Valid || failing.V > before {
		return false, err
	}
	var acknowledged bool
	err := view.QueryRow(selectAcknowledged, webhook, before).Scan(&acknowledged)
	return err == nil && !acknowledged, err
}

// boundOne marks the oldest waiting deliveries of a webhook as failed, at most boundMost, until s.Backlog still wait.
func (s *Service) boundOne(ctx context.Context, webhook string) error {
	all, err := sqlstore.All(s.DB.View(ctx), scanID, selectExcess, webhook, s.Backlog, boundMost)
	if err != nil {
		return err
	}
	var failed int64
	for group := range slices.Chunk(all, cleanGroup) {
		n, err := s.failGroup(ctx, webhook, group)
		if err != nil {
			return err
		}
		failed += n
	}
	if failed > 0 {
		s.metrics.overflowed.Add(float64(failed))
		s.Log.WarnContext(ctx, "webhooks: backlog limit exceeded; the oldest deliveries were failed", "webhook", webhook, "deliveries", failed, "limit", s.Backlog)
	}
	return nil
}

// failGroup marks a group of deliveries as failed, and adds their number to the row of the webhook in webhook_backlog.
func (s *Service) failGroup(ctx context.Context, webhook string, ids []any) (n int64, err error) {
	now := s.Now().UnixMicro()
	err = s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		n = 0
		err := failOldest.Each(len(ids), func(text string, from, to int) error {
			some, err := tx.Exec(text, append([]any{now}, ids[from:to]...)...)
			n += some
			return err
		})
		if err == nil && n > 0 {
			_, err = tx.Exec(recordBacklog, webhook, now, s.Backlog, n)
		}
		return err
	})
	return n, err
}

func (s *Service) purgeBacklogs(ctx context.Context) error {
	until := s.Now().Add(-retention).UnixMicro()
	var there int
	if err := s.DB.View(ctx).QueryRow("SELECT count(*) FROM webhook_backlog WHERE reached_at <= $1", until).Scan(&there); err != nil || there == 0 {
		return err
	}
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec(deleteBacklog, until)
		return err
	})
}
