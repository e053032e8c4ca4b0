package quota

import (
	"sync"
	"sync/atomic"
	"time"

	"vayu/schema"
)

// Account holds the counters of one account.
type Account struct {
	counters *Counters
	id       string
	limit    atomic.Int64 // calls per month of the plan; 0 for no limit

	mu    sync.Mutex // guards the fields below, and the months of the account
	month *month     // month of the latest call; nil before the first
	dirty bool       // listed in Counters.dirty
	// pending is the usage that no batch contains yet. `writing` is the usage of the latest batch until it is written.
	pending, writing usage
	batch            string // id of the latest batch; "" before the first
}

// Account returns the counters of the account with an id, never nil. The same id always yields the same pointer.
func (c *Counters) Account(id string) *Account {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.accounts[id]
	if a == nil {
		a = &Account{counters: c, id: id, pending: newUsage()}
		c.accounts[id] = a
	}
	return a
}

// SetPlan applies the limit of a plan to the account.
func (a *Account) SetPlan(plan string) { a.limit.Store(a.counters.limitOf(plan)) }

// Quota returns the account's quota and the calls that count towards it in the month of `now`. The calls include those
// of this instance that are not in the store yet. Quota returns nil if the plan has no limit.
func (a *Account) Quota(now time.Time) *schema.Quota {
	limit := a.limit.Load()
	if limit == 0 {
		return nil
	}
	m := a.monthIn(a.counters.dayOf(now))
	a.mu.Lock()
	defer a.mu.Unlock()
	q := m.wire(limit, m.used)
	return &q
}

// monthIn returns the account's usage in the month of d. If the clock was set back to an earlier month, monthIn
// returns the usage of the later month, which has already begun.
func (a *Account) monthIn(d *day) *month {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.month == nil || a.month.period < d.period {
		a.month = &month{account: a, period: d.period, ends: d.monthEnds}
	}
	return a.month
}

// markDirty adds the account to the list of accounts that the next flush writes. The caller holds a.mu.
func (a *Account) markDirty() {
	if !a.dirty {
		a.dirty = true
		a.counters.mu.Lock()
		a.counters.dirty = append(a.counters.dirty, a)
		a.counters.mu.Unlock()
	}
}

// day is a day in UTC.
type day struct {
	date      string // such as 2026-11-21
	period    string // its month, such as 2026-11
	ends      int64  // seconds
	monthEnds int64  // seconds
}

// dayOf returns the day of a time. It caches the latest day, and returns it for a time on an earlier day too.
func (c *Counters) dayOf(now time.Time) *day {
	d := c.today.Load()
	if d != nil && now.Unix() < d.ends {
		return d
	}
	y, month, date := now.UTC().Date()
	d = &day{
		date: now.UTC().Format(time.DateOnly), period: periodOf(now),
		ends:      time.Date(y, month, date+1, 0, 0, 0, 0, time.UTC).Unix(),
		monthEnds: time.Date(y, month+1, 1, 0, 0, 0, 0, time.UTC).Unix(),
	}
	c.today.Store(d)
	return d
}

func periodOf(now time.Time) string { return now.UTC().Format("2006-01") }

// Begin starts a call of an operation with a key. The parameter `template` is the operation's path template, such as
// /v1/keys/{id}. Usage is counted by template, because paths with ids would yield an unbounded number of rows.
func (a *Account) Begin(world schema.World, method, template, key string, now time.Time) Call {
	d := a.counters.dayOf(now)
	c := Call{account: a, row: usageRow{date: d.date, method: method, path: template, key: key}, at: now.Unix()}
	if world == schema.Live {
		c.row.month = a.monthIn(d)
	}
	return c
}
