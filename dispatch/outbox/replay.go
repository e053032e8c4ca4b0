package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// ReplayReach is how old an event may be that is brought again. A delivery is
	// kept for 30 days after its end, so one of a younger event is still there to be
	// found; the day is for the way through the relay and the event log, at the end
	// of which it is looked for.
	ReplayReach = keepFor - 24*time.Hour
	// replayGroup bounds a transaction, and what is looked at in one query: an
	// account may have ten thousand subscriptions.
	replayGroup = 250
)

// ErrReach is for events that are too old to be brought again.
var ErrReach = errors.New("events are brought again that are at most 29 days old: whether an older one was delivered may have been forgotten")

// Replay says which events are brought again: those of a time of which a delivery
// is missing.
type Replay struct {
	From, To time.Time        // To is not part of it; both to the millisecond
	Account  string           // "" for all
	Type     schema.EventType // "" for all
	Tests    bool             // test events, too
	DryRun   bool             // nothing is changed
}

// Replayed is what a replay has found and done.
type Replayed struct {
	Looked  int64     // events that were looked at
	Missing int64     // those of which a delivery is missing, without test events that were not asked for
	Tests   int64     // those that were not asked for
	Put     int64     // of Missing, those that the relay has got again; the others wait for it already
	Until   time.Time // events before it have been looked at
}

// Replay has the relay bring events again that are missing a delivery: of a
// subscription that is there, is older than the event, and asks for its type now.
// What was delivered, failed, was cancelled or still waits is no missing delivery,
// and what comes to a subscription again is passed over, so that a replay can be
// repeated and can run beside the service.
//
// It works in groups, each a transaction, and tells of each: an error of tell ends
// it. What was done until an error is returned beside it.
func (o *Outbox) Replay(ctx context.Context, r Replay, tell func(Replayed) error) (done Replayed, err error) {
	if r.From.Before(o.Now().Add(-ReplayReach)) {
		return done, ErrReach
	}
	after, until := idAt(r.From.UnixMicro()), idAt(r.To.UnixMicro())
	for {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		last, err := o.replayAfter(ctx, r, after, until, &done)
		if err != nil {
			return done, fmt.Errorf("bringing events again: %w", err)
		}
		if last == "" {
			done.Until = r.To
			return done, tell(done)
		}
		after, done.Until = last, timeOf(last)
		if err := tell(done); err != nil {
			return done, err
		}
	}
}

const (
	// selectReplayGroup is the last id of the next group, and how many of it are asked for.
	selectReplayGroup = `SELECT max(id), coalesce(sum(CASE WHEN (CAST($4 AS TEXT) = '' OR account_id = $4) AND (CAST($5 AS TEXT) = '' OR type = $5) THEN 1 ELSE 0 END), 0)
		FROM (SELECT id, account_id, type FROM event WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS next`
	// selectMissing are the events of a group of which a delivery is missing. The types
	// of a subscription are separated by blanks, and have no character that LIKE knows.
	selectMissing = `SELECT e.id, e.envelope FROM event e WHERE e.id > $1 AND e.id <= $2
		AND (CAST($3 AS TEXT) = '' OR e.account_id = $3) AND (CAST($4 AS TEXT) = '' OR e.type = $4)
		AND EXISTS (SELECT 1 FROM webhook w WHERE w.account_id = e.account_id AND w.mode = e.mode AND w.deleted_at IS NULL
			AND w.created_at <= e.created_at + $5 AND ' ' || w.events || ' ' LIKE '% ' || e.type || ' %'
			AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = e.id AND d.webhook_id = w.id AND d.retry_of = ''))
		ORDER BY e.id`
)

var insertReplayed = sqlstore.Group(0, "INSERT INTO outbox (event_id) VALUES ", "(?)", " ON CONFLICT (event_id) DO NOTHING")

// replayAfter is Replay for the next group; "" when there is none.
func (o *Outbox) replayAfter(ctx context.Context, r Replay, after, until string, done *Replayed) (last string, err error) {
	var end sql.NullString
	var looked int64
	view := o.DB.View(ctx)
	if err := view.QueryRow(selectReplayGroup, after, until, replayGroup, r.Account, string(r.Type)).Scan(&end, &looked); err != nil {
		return "", fmt.Errorf("looking for events: %w", err)
	}
	if !end.Valid {
		return "", nil
	}
	ids, tests, err := missing(view, r, after, end.String)
	if err != nil {
		return "", fmt.Errorf("looking for deliveries: %w", err)
	}
	put := int64(0)
	if len(ids) > 0 && !r.DryRun {
		err = o.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			put = 0
			tx.After(o.wake)
			return insertReplayed.Each(len(ids), func(text string, from, to int) error {
				n, err := tx.Exec(text, ids[from:to]...)
				put += n
				return err
			})
		})
		if err != nil {
			return "", fmt.Errorf("giving them to the relay: %w", err)
		}
	}
	done.Looked += looked
	done.Missing += int64(len(ids))
	done.Tests += tests
	done.Put += put
	return end.String, nil
}

// missing are the ids of events of a group that lack a delivery, and how many test
// events beside them do that were not asked for.
func missing(view sqlstore.View, r Replay, after, last string) (ids []any, tests int64, err error) {
	err = sqlstore.Each(view, func(row sqlstore.Scanner) error {
		var id string
		var envelope []byte
		if err := row.Scan(&id, &envelope); err != nil {
			return err
		}
		var of struct{ Data struct{ Test bool } }
		if err := json.Unmarshal(envelope, &of); err == nil && of.Data.Test && !r.Tests {
			tests++
			return nil
		}
		ids = append(ids, id)
		return nil
	}, selectMissing, after, last, r.Account, string(r.Type), schema.WebhookClockMargin.Microseconds())
	return ids, tests, err
}
