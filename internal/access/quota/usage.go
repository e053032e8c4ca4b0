package quota

import (
	"cmp"
	"context"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// usageWait limits the wait of a usage query for a flush, which usually takes milliseconds.
	usageWait = 250 * time.Millisecond
	// usageReads limits how often Usage reads the store. Usage reads again if a flush began during the read. A
	// flush begins every 400 ms and a read takes milliseconds, so a third read is rare.
	usageReads = 3
)

// Usage returns the usage of an account in a world (live or sandbox). The days include from and to. Usage adds
// up the counts in the store and the counts that this instance has not written yet. Before each read of the
// store, Usage waits for a running flush.
//
// The result is exact as of an instant during the query, except for unwritten counts of other instances. If the
// flush outlasts usageWait, or a flush begins during each of usageReads reads, calls of that flush may count
// twice.
func (l *Counters) Usage(ctx context.Context, account string, world schema.World, from, to string) ([]schema.UsageDay, error) {
	for try := 1; ; try++ {
		writings := l.waitFlushed(ctx, usageWait)
		unwritten := l.unwrittenDays(account, world, from, to)
		stored, err := l.storedDays(ctx, account, world, from, to)
		if err != nil {
			return nil, err
		}
		if try == usageReads || l.flushesBegun() == writings {
			return mergeUsage(append(stored, unwritten...)), nil
		}
	}
}

func (l *Counters) storedDays(ctx context.Context, account string, world schema.World, from, to string) ([]schema.UsageDay, error) {
	return sqlstore.All(l.DB.View(ctx), func(row sqlstore.Scanner) (d schema.UsageDay, err error) {
		err = row.Scan(&d.Date, &d.Operation, &d.Calls, &d.Failed, &d.Counted)
		return d, err
	}, `SELECT day, operation, calls, failed, counted FROM usage_day
		WHERE account_id = $1 AND mode = $2 AND day >= $3 AND day <= $4`,
		account, world.String(), from, to)
}

// unwrittenDays returns the usage that is in this instance's memory and not in the store.
func (l *Counters) unwrittenDays(account string, world schema.World, from, to string) []schema.UsageDay {
	var b batch
	for _, d := range l.pending(func(d *day) bool {
		return d.account.id == account && d.world == world && d.date >= from && d.date <= to
	}) {
		b.addDay(d)
	}
	out := make([]schema.UsageDay, len(b.rows))
	for i, r := range b.rows {
		out[i] = schema.UsageDay{Date: r.day.date, Operation: r.operation, Calls: r.calls, Failed: r.failed, Counted: r.counted}
	}
	return out
}

// mergeUsage adds up rows of the same day and operation, and sorts them.
func mergeUsage(days []schema.UsageDay) []schema.UsageDay {
	slices.SortFunc(days, func(x, y schema.UsageDay) int {
		return cmp.Or(cmp.Compare(x.Date, y.Date), cmp.Compare(x.Operation, y.Operation))
	})
	out := make([]schema.UsageDay, 0, len(days))
	for _, d := range days {
		if n := len(out); n > 0 && out[n-1].Date == d.Date && out[n-1].Operation == d.Operation {
			sum := &out[n-1]
			sum.Calls, sum.Failed, sum.Counted = sum.Calls+d.Calls, sum.Failed+d.Failed, sum.Counted+d.Counted
			continue
		}
		out = append(out, d)
	}
	return out
}
