package mail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"vayu/internal/sqlstore"
)

const (
	every = time.Minute
	// lease is how long an instance has to send a mail. If sending fails, the lease delays the next attempt.
	lease = 5 * time.Minute
	group = 100 // rows per query
)

// Queue sends the mails of a table. The column mail_due_at is the time of the next attempt, or NULL for a sent mail.
type Queue struct {
	*Sender
	DB         *sqlstore.DB
	Table, Key string // the table and its primary key
	// Due returns at most `limit` mails that are due. A mail with an empty text is not sent, but marked as sent.
	Due func(view sqlstore.View, now time.Time, limit int) ([]Message, error)
	// Clean removes expired rows. Run calls it each minute, and after each Wake.
	Clean func(ctx context.Context) error
	// Count counts an event: mail_sent or mail_failed.
	Count func(event string)
	wake  chan struct{} // capacity one; Wake sends to it
}

// NewQueue returns a Queue with the exported fields of q.
func NewQueue(q Queue) *Queue {
	q.wake = make(chan struct{}, 1)
	return &q
}

// Wake makes Run send the mails that are due now, and not only at its next tick.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default: // a wake-up is pending
	}
}

// Run calls Process each minute, and after each Wake, until ctx ends.
func (q *Queue) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := q.Process(ctx); err != nil && ctx.Err() == nil {
			q.Log.WarnContext(ctx, "mails cannot be processed", "table", q.Table, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-q.wake:
		case <-tick.C:
		}
	}
}

// Process sends the mails that are due, and then calls Clean, even if the first step fails.
func (q *Queue) Process(ctx context.Context) error { return errors.Join(q.sendDue(ctx), q.Clean(ctx)) }

// Claim leases the row with the given key if the time in the given column is due. It sets that time to the end of the
// lease. Until then no other instance can claim the row. `claimed` is false if the row is not due or does not exist.
func (q *Queue) Claim(ctx context.Context, column, key string, now time.Time, lease time.Duration) (claimed bool, err error) {
	err = q.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		n, err := tx.Exec("UPDATE "+q.Table+" SET "+column+" = $3 WHERE "+q.Key+" = $1 AND "+column+" <= $2", key, now.UnixMicro(), now.Add(lease).UnixMicro())
		claimed = n == 1
		return err
	})
	return claimed, err
}

// sendDue sends due mails. If Send fails, it continues with the next mail. If the store fails, it returns the error.
func (q *Queue) sendDue(ctx context.Context) error {
	due, err := q.Due(q.DB.View(ctx), q.Now(), group)
	if err != nil {
		return fmt.Errorf("reading due mails: %w", err)
	}
	for _, m := range due {
		claimed, err := q.Claim(ctx, "mail_due_at", m.ID, q.Now(), lease) // Now is called again, because sending the earlier mails may have taken minutes
		if err != nil {
			return err
		}
		if !claimed {
			continue
		}
		if m.Text != "" {
			if err := q.Send(ctx, m); err != nil {
				q.Count("mail_failed")
				q.Log.WarnContext(ctx, "a mail was not sent", "id", m.ID, "error", strings.ReplaceAll(err.Error(), m.To, "***"))
				continue
			}
			q.Count("mail_sent")
		}
		if err := q.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("UPDATE "+q.Table+" SET mail_due_at = NULL WHERE "+q.Key+" = $1", m.ID)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
