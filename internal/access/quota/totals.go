package quota

import (
	"context"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/tablecache"
)

// clockSkew is the tolerated difference between the clocks of instances, which set changed_at. ReadTotals therefore
// also reads the rows that changed up to clockSkew before its last successful call.
const clockSkew = 10 * time.Second

// ReadTotals updates the usage in memory with the store's totals of this month. The totals contain the calls of all
// instances. In a new month, the first call reads all rows of the month. Later calls read the rows that changed since
// the last successful call. The error is an error of the store or of ctx.
func (c *Counters) ReadTotals(ctx context.Context) error {
	limit, done := context.WithTimeout(ctx, tablecache.Timeout)
	defer done()
	release, ok := c.excludeFlush(limit)
	if !ok {
		return limit.Err()
	}
	defer release()
	now, since := c.Now(), int64(0)
	today := c.dayOf(now)
	if today.period == c.period {
		since = c.readAt.Add(-clockSkew).UnixMicro()
	}
	err := sqlstore.Each(c.DB.View(limit), func(row sqlstore.Scanner) error {
		var account string
		var used int64
		if err := row.Scan(&account, &used); err != nil {
			return err
		}
		if m := c.Account(account).monthIn(today); m.period == today.period {
			m.mergeTotal(used, 0)
		}
		return nil
	}, "SELECT account_id, used FROM quota_period WHERE period = $1 AND changed_at >= $2", today.period, since)
	if err != nil {
		return fmt.Errorf("reading quotas: %w", err)
	}
	c.period, c.readAt = today.period, now
	return nil
}
