package quota

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// usageRow identifies a row of table usage_day of one account: the usage of an operation on a day in a world (live
// or sandbox). The path is a template, because paths with ids would yield an unbounded number of rows.
type usageRow struct {
	month              *month // nil in the sandbox, which has no quota
	date, method, path string
}

func (r *usageRow) world() schema.World {
	if r.month == nil {
		return schema.Sandbox
	}
	return schema.Live
}

// operation returns the name of the operation in table usage_day.
func (r *usageRow) operation() string { return r.method + " " + r.path }

// compare orders rows of one account.
func (r usageRow) compare(o usageRow) int {
	return cmp.Or(cmp.Compare(r.world(), o.world()), cmp.Compare(r.date, o.date),
		cmp.Compare(r.method, o.method), cmp.Compare(r.path, o.path))
}

// sums are the three counts in a row of table usage_day.
type sums struct{ calls, failed, counted int64 }

// usage is the usage of an account that one flush writes: counts by row, and the last use of each key.
type usage struct {
	rows map[usageRow]*sums
	keys map[string]int64 // time of the last use of each key, seconds
}

func newUsage() usage { return usage{rows: map[usageRow]*sums{}, keys: map[string]int64{}} }

func (u *usage) add(row usageRow, more sums) {
	s := u.rows[row]
	if s == nil {
		s = &sums{}
		u.rows[row] = s
	}
	s.calls, s.failed, s.counted = s.calls+more.calls, s.failed+more.failed, s.counted+more.counted
}

// keep keeps only the usage of accounts and keys that exist. If account is false, the account does not exist, and
// keep removes all of its usage. Otherwise keep removes the use of keys that are not in hasKey. It returns the
// number of removed rows.
func (u *usage) keep(account bool, hasKey map[string]bool) int {
	before := len(u.rows) + len(u.keys)
	if !account {
		*u = usage{}
	}
	maps.DeleteFunc(u.keys, func(key string, _ int64) bool { return !hasKey[key] })
	return before - len(u.rows) - len(u.keys)
}

// unwritten returns the number of calls whose counts may not be in the store.
func (l *Counters) unwritten() (sum float64) {
	l.mu.Lock()
	all := slices.Collect(maps.Values(l.accounts))
	l.mu.Unlock()
	for _, a := range all {
		sum += float64(a.unwritten())
	}
	return sum
}

// unwritten returns the number of calls of pending and of a flush in progress.
func (a *Account) unwritten() (calls int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, u := range [...]usage{a.pending, a.writing} {
		for _, s := range u.rows {
			calls += s.calls
		}
	}
	return calls
}

// Usage returns the usage of an account in a world (live or sandbox). The days include from and to. Usage adds
// up the counts in the store and the counts that this instance has not written yet.
//
// The result is exact as of an instant during the query, except for unwritten counts of other instances. Usage never
// waits for a flush.
func (l *Counters) Usage(ctx context.Context, account string, world schema.World, from, to string) ([]schema.UsageDay, error) {
	a := l.Account(account)
	for {
		pending, writing, batch := a.unwrittenDays(world, from, to)
		days, written, err := l.storedDays(ctx, a, batch, world, from, to)
		if err != nil {
			return nil, err
		}
		if !a.inBatch(batch) {
			continue // a later flush may have written pending before the store was read
		}
		if !written {
			days = append(days, writing...)
		}
		return mergeUsage(append(days, pending...)), nil
	}
}

// unwrittenDays returns the days of pending, the days of the latest batch that may not be in the store yet, and the id
// of that batch.
func (a *Account) unwrittenDays(world schema.World, from, to string) (pending, writing []schema.UsageDay, batch string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pending.days(world, from, to), a.writing.days(world, from, to), a.batch
}

// inBatch reports whether the latest batch of the account has the given id.
func (a *Account) inBatch(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.batch == id
}

// days returns the rows of a world. The days include from and to.
func (u *usage) days(world schema.World, from, to string) (days []schema.UsageDay) {
	for r, s := range u.rows {
		if r.world() == world && r.date >= from && r.date <= to {
			days = append(days, schema.UsageDay{
				Date: r.date, Operation: r.operation(), Calls: s.calls, Failed: s.failed, Counted: s.counted,
			})
		}
	}
	return days
}

// storedDays returns the rows of an account in table usage_day. written reports whether they include those of the
// batch. One statement reads both, so that no flush can commit in between.
func (l *Counters) storedDays(ctx context.Context, a *Account, batch string, world schema.World, from, to string) (days []schema.UsageDay, written bool, err error) {
	err = sqlstore.Each(l.DB.View(ctx), func(row sqlstore.Scanner) error {
		var d schema.UsageDay
		err := row.Scan(&d.Date, &d.Operation, &d.Calls, &d.Failed, &d.Counted, &written)
		days = append(days, d)
		return err
	}, `SELECT day, operation, calls, failed, counted, EXISTS (SELECT 1 FROM usage_flush WHERE id = $5) FROM usage_day
		WHERE account_id = $1 AND mode = $2 AND day >= $3 AND day <= $4`, a.id, world.String(), from, to, batch)
	return days, written, err
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
