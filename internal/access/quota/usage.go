package quota

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// usageRow identifies a row of table usage_key_day of one account. A row has the usage of one operation with one key on
// one day in a world (live or sandbox). The path is a template, because paths with ids would yield an unbounded number
// of rows.
type usageRow struct {
	month              *month // nil in the sandbox, which has no quota
	date, method, path string
	key                string // id of the API key
}

func (r *usageRow) world() schema.World {
	if r.month == nil {
		return schema.Sandbox
	}
	return schema.Live
}

// operation returns the name of the operation in table usage_day.
func (r *usageRow) operation() string { return r.method + " " + r.path }

// keyUsageDays is the number of days for which table usage_key_day keeps a row. It exceeds the 366 days of a query.
const keyUsageDays = 400

// expires returns the time, in microseconds, at which the row of table usage_key_day expires.
func (r *usageRow) expires() int64 {
	day, _ := time.Parse(time.DateOnly, r.date) // never fails, because dayOf has formatted the date
	return day.AddDate(0, 0, keyUsageDays).UnixMicro()
}

// compare orders the usage rows of one account.
func (r usageRow) compare(o usageRow) int {
	return cmp.Or(cmp.Compare(r.world(), o.world()), cmp.Compare(r.date, o.date),
		cmp.Compare(r.method, o.method), cmp.Compare(r.path, o.path), cmp.Compare(r.key, o.key))
}

// sums has the counts of a row of usage_day or usage_key_day; `counted` is the number of calls that use up the quota.
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

// removeMissing removes what cannot be written because an account or a key was deleted. If `account` is false, the
// account does not exist, and removeMissing removes all usage. Otherwise it removes only the last use of keys that are
// not in hasKey; their counts stay. It returns the number of removed counts and uses.
func (u *usage) removeMissing(account bool, hasKey map[string]bool) int {
	before := len(u.rows) + len(u.keys)
	if !account {
		*u = usage{}
	}
	maps.DeleteFunc(u.keys, func(key string, _ int64) bool { return !hasKey[key] })
	return before - len(u.rows) - len(u.keys)
}

// unwritten returns the number of calls whose counts may not be in the store.
func (c *Counters) unwritten() (sum float64) {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.accounts))
	c.mu.Unlock()
	for _, a := range all {
		sum += float64(a.unwritten())
	}
	return sum
}

// unwritten returns the number of calls in a.pending, and in a.writing during a flush or after a failed flush.
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

// Selection selects the usage of an account in a world, by days and optionally by API key.
type Selection struct {
	World    schema.World
	From, To string // first and last day, UTC, such as 2026-11-21
	Key      string // id of an API key; "" for all
	ByKey    bool   // one row for each key, day and operation, instead of each day and operation
}

// MaxRows is the largest number of stored rows from which Usage computes its result.
const MaxRows = 50_000

// ErrTooManyRows is the error of Usage for a selection of more than MaxRows stored rows.
var ErrTooManyRows = errors.New("the selection has too many rows of usage")

// Usage returns the usage of an account in calls: a row for each UTC day and operation, and for each key if ByKey is
// true. It adds up the counts in the store and those that this instance has not written yet. Counts that other
// instances have not written yet are missing. Otherwise the result is exact as of an instant during the query.
//
// A selection with Key or ByKey yields the last 400 days only. Usage never waits for a flush. The error is
// [ErrTooManyRows] or an error of the store.
func (c *Counters) Usage(ctx context.Context, account string, of Selection) ([]schema.UsageDay, error) {
	a := c.Account(account)
	for {
		pending, writing, batch := a.unwrittenDays(&of)
		days, written, err := c.storedDays(ctx, a, batch, &of)
		if err != nil {
			return nil, err
		}
		if !a.inBatch(batch) {
			continue // a later flush may have stored `pending`, so that `days` contains it already
		}
		if !written {
			days = append(days, writing...)
		}
		return mergeUsage(append(days, pending...)), nil
	}
}

// unwrittenDays returns the selected rows of a.pending and of a.writing, and the id of the latest batch. The usage in
// a.writing belongs to that batch, which may be in the store already.
func (a *Account) unwrittenDays(of *Selection) (pending, writing []schema.UsageDay, batch string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pending.days(of), a.writing.days(of), a.batch
}

// inBatch reports whether the latest batch of the account has the given id.
func (a *Account) inBatch(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.batch == id
}

// days returns the selected rows. Several rows can have the same day and operation.
func (u *usage) days(of *Selection) (days []schema.UsageDay) {
	for r, s := range u.rows {
		if r.world() != of.World || r.date < of.From || r.date > of.To || of.Key != "" && r.key != of.Key {
			continue
		}
		d := schema.UsageDay{Date: r.date, Operation: r.operation(), Calls: s.calls, Failed: s.failed, Counted: s.counted}
		if of.ByKey {
			d.KeyID = r.key
		}
		days = append(days, d)
	}
	return days
}

// storedDays returns the selected rows of an account in the store. `written` reports whether they include the usage
// of the batch with the id `batch`. One statement reads both results, so that no flush can commit in between.
func (c *Counters) storedDays(ctx context.Context, a *Account, batch string, of *Selection) (days []schema.UsageDay, written bool, err error) {
	table, key, args := "usage_day", "''", []any{a.id, of.World.String(), of.From, of.To, batch}
	if of.ByKey || of.Key != "" {
		table = "usage_key_day"
	}
	if of.ByKey {
		key = "key_id"
	}
	where := " WHERE account_id = $1 AND mode = $2 AND day >= $3 AND day <= $4"
	if of.Key != "" {
		where += " AND key_id = $6"
		args = append(args, of.Key)
	}
	err = sqlstore.Each(c.DB.View(ctx), func(row sqlstore.Scanner) error {
		var d schema.UsageDay
		err := row.Scan(&d.Date, &d.KeyID, &d.Operation, &d.Calls, &d.Failed, &d.Counted, &written)
		days = append(days, d)
		return err
	}, "SELECT day, "+key+", operation, calls, failed, counted, EXISTS (SELECT 1 FROM usage_flush WHERE id = $5) FROM "+table+where+
		" LIMIT "+strconv.Itoa(MaxRows+1), args...)
	if err == nil && len(days) > MaxRows {
		err = ErrTooManyRows
	}
	return days, written, err
}

// mergeUsage adds up rows of the same day, operation and key, and sorts them.
func mergeUsage(days []schema.UsageDay) []schema.UsageDay {
	slices.SortFunc(days, func(x, y schema.UsageDay) int {
		return cmp.Or(cmp.Compare(x.Date, y.Date), cmp.Compare(x.Operation, y.Operation), cmp.Compare(x.KeyID, y.KeyID))
	})
	out := make([]schema.UsageDay, 0, len(days))
	for _, d := range days {
		if n := len(out); n > 0 && out[n-1].Date == d.Date && out[n-1].Operation == d.Operation && out[n-1].KeyID == d.KeyID {
			sum := &out[n-1]
			sum.Calls, sum.Failed, sum.Counted = sum.Calls+d.Calls, sum.Failed+d.Failed, sum.Counted+d.Counted
			continue
		}
		out = append(out, d)
	}
	return out
}
