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
	month    atomic.Pointer[month]
	today    [len(schema.Worlds)]atomic.Pointer[day]
	mu       sync.Mutex // guards the replacement of month and today
}

// Account returns the counters of the account with an id. The same id always yields the same pointer.
func (l *Counters) Account(id string) *Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[id]
	if a == nil {
		a = &Account{counters: l, id: id}
		l.accounts[id] = a
	}
	return a
}

// SetPlan applies the limit of a plan to the account.
func (a *Account) SetPlan(plan string) { a.limit.Store(a.counters.limitOf(plan)) }

// Quota returns the account's quota and the calls of the live world in the month of now, including unwritten
// calls. It returns nil if the plan has no limit.
func (a *Account) Quota(now time.Time) *schema.Quota {
	limit := a.limit.Load()
	if limit == 0 {
		return nil
	}
	m := a.monthAt(now)
	q := m.wire(limit, m.used.Load())
	return &q
}

// monthAt returns the account's usage in the month of now. If the clock is set back to an earlier month,
// monthAt still returns the later month.
func (a *Account) monthAt(now time.Time) *month {
	m := a.month.Load()
	if m != nil && now.Unix() < m.ends {
		return m
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if m = a.month.Load(); m == nil || now.Unix() >= m.ends {
		m = monthOf(a.id, now)
		a.month.Store(m)
	}
	return m
}

// dayAt returns the account's usage on the day of now in a world (live or sandbox).
func (a *Account) dayAt(world schema.World, now time.Time) *day {
	d := a.today[world].Load()
	if d != nil && now.Unix() < d.ends {
		return d
	}
	m := a.monthAt(now)
	a.mu.Lock()
	defer a.mu.Unlock()
	if d = a.today[world].Load(); d == nil || now.Unix() >= d.ends {
		y, month, date := now.UTC().Date()
		d = &day{
			account: a, world: world, date: now.UTC().Format(time.DateOnly),
			ends: time.Date(y, month, date+1, 0, 0, 0, 0, time.UTC).Unix(),
		}
		if world == schema.Live {
			d.month = m
		}
		a.today[world].Store(d)
	}
	return d
}
