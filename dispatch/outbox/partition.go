package outbox

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vayu/internal/leader"
	"vayu/internal/share"
	"vayu/internal/sqlstore"
)

// partitions is the number of partitions of the outbox, and so of instances that can relay at the same time. All events
// of an account are in one partition. The rows of the outbox contain their partition, so this number cannot change
// without a migration.
const partitions = 8

// partitionOf returns the partition of an account, from 0 to partitions-1.
func partitionOf(account string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(account))
	return int(h.Sum32() % partitions)
}

// owned is the set of the partitions whose events this instance relays.
type owned [partitions]bool

// share divides the partitions among the instances: until ctx ends, this instance claims and gives up partitions.
func (r *relay) share(ctx context.Context) error {
	jobs := make([]share.Job, partitions)
	for p := range jobs {
		jobs[p] = share.Job{Name: strconv.Itoa(p), Run: func(ctx context.Context, _ leader.Fence, quit <-chan struct{}) error {
			r.own(p, true)
			ctx, end := context.WithCancel(ctx)
			var purging sync.WaitGroup
			if p == 0 { // only the owner of partition 0 purges
				purging.Go(func() { r.purge(ctx) })
			}
			select {
			case <-ctx.Done():
			case <-quit:
			}
			r.own(p, false)
			end()
			purging.Wait()
			return nil
		}}
	}
	return share.Run(ctx, share.Config{
		DB: r.DB, Group: leadName, Log: r.Log, Metrics: r.Metrics,
		Jobs: func(context.Context) ([]share.Job, error) { return jobs, nil },
	})
}

// own adds a partition to those of this instance, or removes it. It first waits for the batch in progress, so that the
// next owner of a removed partition does not publish the same events. If the lease was lost during the batch, both may
// publish its events: this instance and the next owner. The order of an account's events stays, because each relay
// begins with the oldest event of the account in the outbox.
func (r *relay) own(p int, owns bool) {
	r.batching.Lock()
	r.owned[p] = owns
	r.gained = r.gained || owns
	if !owns {
		// The next owner deletes these events; if they are replayed later, this instance must not delete them.
		r.acked, r.failingSince = nil, time.Time{}
	}
	r.batching.Unlock()
	r.wake()
}

// ownsNone reports whether this instance owns no partition.
func (r *relay) ownsNone() bool {
	r.batching.Lock()
	defer r.batching.Unlock()
	return r.owned == owned{}
}

var setPartition = sqlstore.NewBatchStatement(1, "UPDATE outbox SET partition = $1 WHERE event_id IN (", "?", ")")

// assign stores the partition of each event that an older version has appended without one. Relays of two instances may
// assign the same events. They do so in the same order, and so without a deadlock.
func (r *relay) assign(ctx context.Context, events []Event) error {
	var of [partitions][]any
	for i := range events {
		p := partitionOf(events[i].Account)
		of[p] = append(of[p], events[i].ID)
	}
	return r.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		for p, ids := range of {
			if err := setPartition.Each(len(ids), func(text string, from, to int) error {
				_, err := tx.Exec(text, append([]any{p}, ids[from:to]...)...)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// selectNext returns a statement that reads the oldest events in the owned partitions: the id and the partition of at
// most $2 events with ids greater than $1. It includes the events of older versions, whose partition is NULL.
func (o *owned) selectNext() string {
	const oldest = "SELECT event_id, partition FROM outbox WHERE %sevent_id > $1 ORDER BY event_id LIMIT $2"
	if o.all() {
		return fmt.Sprintf(oldest, "")
	}
	// Each part of the union reads a range of the index outbox_partition. So the events of other instances, however
	// many, do not delay the query.
	parts := []string{fmt.Sprintf("SELECT event_id, partition FROM ("+oldest+") AS unknown", "partition IS NULL AND ")}
	for p, owns := range o {
		if owns {
			parts = append(parts, fmt.Sprintf("SELECT event_id, partition FROM ("+oldest+") AS p%d", fmt.Sprintf("partition = %d AND ", p), p))
		}
	}
	return strings.Join(parts, " UNION ALL ") + " ORDER BY event_id LIMIT $2"
}

func (o *owned) all() bool { return !slices.Contains(o[:], false) }
