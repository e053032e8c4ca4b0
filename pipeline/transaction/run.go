package transaction

import (
	"context"
	"sync"
	"time"

	"vayu/internal/pagination"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// countInterval is the interval between two counts of pending transactions.
	countInterval = time.Minute
	// oldAge is the age from which a pending transaction counts as old.
	oldAge = 24 * time.Hour
)

// RunWith makes the calls that are due, counts the pending transactions, and runs the given loops
// until ctx ends. Then it waits for the calls in flight. If the result of a call could not be recorded,
// an enquiry follows after the lease of its job has expired. The store must be ready.
func (c *Core[R, P]) RunWith(ctx context.Context, loops ...func(context.Context)) {
	var all sync.WaitGroup
	all.Go(func() { sleep.Repeat(ctx, countInterval, c.CountPending) })
	for _, loop := range loops {
		all.Go(func() { loop(ctx) })
	}
	c.Queue.Run(ctx)
	all.Wait()
}

// RunWithoutPolling replaces [Core.RunWith] on an instance that makes only the calls for its own
// requests. Other instances make the calls that become due.
func (c *Core[R, P]) RunWithoutPolling(ctx context.Context) error {
	c.Queue.RunWithoutPolling(ctx)
	return nil
}

// countPending returns the query of CountPending. It counts by CASE, because with GROUP BY mode
// SQLite would read the whole table along an index that is sorted by mode.
func (t *Table[R, P]) countPending() string {
	return `SELECT count(CASE WHEN mode = 'live' THEN 1 END), count(CASE WHEN mode = 'live' AND id < $1 THEN 1 END),
		count(CASE WHEN mode = 'sandbox' THEN 1 END), count(CASE WHEN mode = 'sandbox' AND id < $1 THEN 1 END)
	FROM ` + t.Name + " WHERE state = 'pending'"
}

// CountPending counts the pending transactions and, by their ids, the old ones among them. An
// id contains the creation time of its transaction.
func (c *Core[R, P]) CountPending(ctx context.Context) {
	var pending, old [len(schema.Worlds)]int64
	before, _ := pagination.FirstID(c.kind.Prefix, c.Now().Add(-oldAge).UnixMicro())
	err := c.DB.View(ctx).QueryRow(c.kind.countPending(), before).
		Scan(&pending[schema.Live], &old[schema.Live], &pending[schema.Sandbox], &old[schema.Sandbox])
	c.Metrics.counts.Observe(ctx, err)
	if err != nil {
		return
	}
	for world := range pending {
		c.Metrics.pending[world].Store(pending[world])
		c.Metrics.old[world].Store(old[world])
	}
}

// pendingByProvider returns a query that counts pending transactions by provider. It appends an
// empty text to both columns, so that SQLite uses the index of pending rows. With the plain
// columns, SQLite would read the whole table through an index of these columns.
func (t *Table[R, P]) pendingByProvider() string {
	return "SELECT mode || '', provider || '', count(*) FROM " + t.Name + " WHERE state = 'pending' GROUP BY 1, 2 ORDER BY 1, 2"
}

// Queries returns the queries of pending transactions, for tests of their query plans. The
// first query has an id as its argument.
func (t *Table[R, P]) Queries() (count, byProvider string) {
	return t.countPending(), t.pendingByProvider()
}

// EachPending calls a function for each world and provider with pending transactions.
func (c *Core[R, P]) EachPending(ctx context.Context, do func(world schema.World, provider string, pending int64) error) error {
	err := sqlstore.Each(c.DB.View(ctx), func(row sqlstore.Scanner) error {
		var mode, provider string
		var n int64
		if err := row.Scan(&mode, &provider, &n); err != nil {
			return err
		}
		return do(schema.WorldOf(mode), provider, n)
	}, c.kind.pendingByProvider())
	c.Metrics.counts.Observe(ctx, err)
	return err
}
