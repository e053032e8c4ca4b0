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
	// ReplayReach is the maximum age of an event that can be replayed. A delivery is deleted 30 days after its end. So
	// all deliveries of such an event still exist, with a day to spare for the relay and Kafka.
	ReplayReach = retention - 24*time.Hour
	// replayGroup is the maximum number of events in a transaction. Each event is compared with all subscriptions of
	// its account, which may be ten thousand.
	replayGroup = 250
)

// ErrReach is the error of Replay for events that are older than ReplayReach.
var ErrReach = errors.New("events older than 29 days cannot be replayed, because records of their deliveries may have been purged")

// Replay selects the events to replay: events in a time range that lack a delivery to a webhook.
type Replay struct {
	From, To time.Time        // To is exclusive; both are exact to the millisecond
	Account  string           // "" for all
	Type     schema.EventType // "" for all
	Tests    bool             // include test events
	DryRun   bool             // change nothing
}

// Replayed is the progress of a replay.
type Replayed struct {
	Scanned int64     // events of the selected account and type that have been scanned
	Missing int64     // events with a missing delivery, except excluded test events
	Tests   int64     // excluded test events with a missing delivery
	Queued  int64     // events of Missing that were not in the outbox and were added to it; 0 in a dry run
	Until   time.Time // events before this time have been scanned
}

// Replay puts events with a missing delivery into the outbox again. A delivery is missing if a subscription that should
// get the event has no delivery of it in any state. The subscription must be older than the event, include its type,
// and not be deleted. Replay is idempotent and can run during normal operation.
//
// After each group of events, Replay calls `progress`, and ends if that returns an error. Replay returns its counts
// even with an error.
func (o *Outbox) Replay(ctx context.Context, r Replay, progress func(Replayed) error) (done Replayed, err error) {
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
			return done, fmt.Errorf("replaying events: %w", err)
		}
		if last == "" {
			done.Until = r.To
			return done, progress(done)
		}
		after, done.Until = last, timeOf(last)
		if err := progress(done); err != nil {
			return done, err
		}
	}
}

const (
	// selectReplayGroup reads the last id of the next group of events, and how many events of the group Replay selects.
	selectReplayGroup = `SELECT max(id), coalesce(sum(CASE WHEN (CAST($4 AS TEXT) = '' OR account_id = $4) AND (CAST($5 AS TEXT) = '' OR type = $5) THEN 1 ELSE 0 END), 0)
		FROM (SELECT id, account_id, type FROM event WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS next`
	// selectMissing reads events that lack a delivery to a webhook, in a range of ids. The column webhook.events
	// contains types separated by blanks. LIKE finds a type in it, because types contain no wildcards.
	selectMissing = `SELECT e.id, e.account_id, e.envelope FROM event e WHERE e.id > $1 AND e.id <= $2
		AND (CAST($3 AS TEXT) = '' OR e.account_id = $3) AND (CAST($4 AS TEXT) = '' OR e.type = $4)
		AND EXISTS (SELECT 1 FROM webhook w WHERE w.account_id = e.account_id AND w.mode = e.mode AND w.deleted_at IS NULL
			AND w.created_at <= e.created_at + $5 AND ' ' || w.events || ' ' LIKE '% ' || e.type || ' %'
			AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = e.id AND d.webhook_id = w.id AND d.retry_of = ''))
		ORDER BY e.id`
)

var insertReplayed = sqlstore.NewBatchStatement(0, "INSERT INTO outbox (event_id, partition) VALUES ", "(?, ?)", " ON CONFLICT (event_id) DO NOTHING")

// replayAfter replays the next group of events, and returns the last id of the group; "" if no group is left.
func (o *Outbox) replayAfter(ctx context.Context, r Replay, after, until string, done *Replayed) (last string, err error) {
	var end sql.NullString
	var looked int64
	view := o.DB.View(ctx)
	if err := view.QueryRow(selectReplayGroup, after, until, replayGroup, r.Account, string(r.Type)).Scan(&end, &looked); err != nil {
		return "", fmt.Errorf("reading events: %w", err)
	}
	if !end.Valid {
		return "", nil
	}
	rows, tests, err := missing(view, r, after, end.String)
	if err != nil {
		return "", fmt.Errorf("reading missing deliveries: %w", err)
	}
	put, events := int64(0), len(rows)/2
	if events > 0 && !r.DryRun {
		err = o.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			put = 0
			tx.OnCommit(o.wake)
			return insertReplayed.Each(events, func(text string, from, to int) error {
				n, err := tx.Exec(text, rows[2*from:2*to]...)
				put += n
				return err
			})
		})
		if err != nil {
			return "", fmt.Errorf("adding events to the outbox: %w", err)
		}
	}
	done.Scanned += looked
	done.Missing += int64(events)
	done.Tests += tests
	done.Queued += put
	return end.String, nil
}

// missing returns the events of a group that have a missing delivery: the id and the partition of each. It excludes
// test events unless r.Tests is set, and returns their number.
func missing(view sqlstore.View, r Replay, after, last string) (rows []any, tests int64, err error) {
	err = sqlstore.Each(view, func(row sqlstore.Scanner) error {
		var id, account string
		var envelope []byte
		if err := row.Scan(&id, &account, &envelope); err != nil {
			return err
		}
		var of struct{ Data struct{ Test bool } }
		if err := json.Unmarshal(envelope, &of); err == nil && of.Data.Test && !r.Tests {
			tests++
			return nil
		}
		rows = append(rows, id, partitionOf(account))
		return nil
	}, selectMissing, after, last, r.Account, string(r.Type), schema.WebhookClockMargin.Microseconds())
	return rows, tests, err
}
