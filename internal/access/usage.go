package access

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"vayu/schema"
)

// usageCounters has the usage that this instance has counted, and marks the part that is not in the store yet.
//
// A call adds to the counter of its account, world (live or sandbox), day and operation. A day is dirty while
// it has unwritten counts. Dirty days are listed, so that a flush visits only those.
type usageCounters struct {
	plans plans

	newBuckets func() worldBuckets // of a new account

	mu        sync.Mutex // guards the fields below
	accounts  map[string]*accountCounters
	days      []*daily      // dirty days
	keys      []*cachedKey  // keys whose last use is not written
	batch     *batch        // being written; nil for none
	flushes   int           // flushes that have begun
	flushDone chan struct{} // closed when the latest flush ends

	// flushing is held from reading or writing totals in the store until they are merged into memory.
	flushing sync.Mutex
	period   string // of the last reading of totals
	readAt   time.Time
}

func (l *usageCounters) init(newBuckets func() worldBuckets) {
	l.newBuckets = newBuckets
	l.plans.warned = map[string]bool{}
	l.accounts = map[string]*accountCounters{}
}

// accountCounters holds the counters of one account, and the buckets that its keys share.
type accountCounters struct {
	account string
	buckets worldBuckets
	month   atomic.Pointer[month]
	today   [len(schema.Worlds)]atomic.Pointer[daily]
	mu      sync.Mutex // guards the replacement of month and today
}

// account returns the counters of an account, always the same value for one account.
func (l *usageCounters) account(account string) *accountCounters {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.accounts[account]
	if t == nil {
		t = &accountCounters{account: account, buckets: l.newBuckets()}
		l.accounts[account] = t
	}
	return t
}

// monthAt returns the account's usage of the month at now. If the clock is set back, the later month stays
// current.
func (t *accountCounters) monthAt(now time.Time) *month {
	m := t.month.Load()
	if m != nil && now.Unix() < m.ends {
		return m
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if m = t.month.Load(); m == nil || now.Unix() >= m.ends {
		m = monthOf(t.account, now)
		t.month.Store(m)
	}
	return m
}

// dayAt returns the account's usage of the day at now in a world.
func (t *accountCounters) dayAt(world schema.World, now time.Time) *daily {
	d := t.today[world].Load()
	if d != nil && now.Unix() < d.ends {
		return d
	}
	m := t.monthAt(now)
	t.mu.Lock()
	defer t.mu.Unlock()
	if d = t.today[world].Load(); d == nil || now.Unix() >= d.ends {
		y, month, date := now.UTC().Date()
		d = &daily{
			account: t.account, world: world, date: now.UTC().Format(time.DateOnly),
			ends: time.Date(y, month, date+1, 0, 0, 0, 0, time.UTC).Unix(),
		}
		if world == schema.Live {
			d.month = m
		}
		t.today[world].Store(d)
	}
	return d
}

// daily is the usage of an account on one day (UTC) in one world.
type daily struct {
	account string
	world   schema.World
	date    string // 2026-11-21
	ends    int64  // seconds
	month   *month // nil in the sandbox, which has no quota
	dirty   atomic.Bool

	counters atomic.Pointer[map[operation]*counter] // replaced, never changed
	mu       sync.Mutex                             // guards the replacement of counters
}

// operation is the method and the path template of an endpoint. With templates, the number of operations is
// bounded.
type operation struct{ method, path string }

// String returns the name of an operation in usage_day.
func (o operation) String() string { return o.method + " " + o.path }

// counter counts the calls of one operation on one day. written is the part that is stored.
type counter struct {
	now, written sums
}

// sums are the three counts in a row of table usage_day.
type sums struct {
	calls, failed, counted atomic.Int64
}

// counter returns the day's counter of an operation.
func (d *daily) counter(o operation) *counter {
	if all := d.counters.Load(); all != nil {
		if c := (*all)[o]; c != nil {
			return c
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[operation]*counter{}
	if old := d.counters.Load(); old != nil {
		if c := (*old)[o]; c != nil {
			return c
		}
		all = maps.Clone(*old)
	}
	c := &counter{}
	all[o] = c
	d.counters.Store(&all)
	return c
}

// count adds one call to a counter of a day. It marks the day dirty after adding, whereas a flush clears the
// mark before reading. Therefore no call is missed.
func (l *usageCounters) count(d *daily, c *counter, failed bool, counted int64) {
	c.now.calls.Add(1)
	if failed {
		c.now.failed.Add(1)
	}
	if counted != 0 {
		c.now.counted.Add(counted)
	}
	if !d.dirty.Load() && d.dirty.CompareAndSwap(false, true) {
		l.mu.Lock()
		l.days = append(l.days, d)
		l.mu.Unlock()
	}
}

// touch records the time at which a key was used last.
func (l *usageCounters) touch(g *cachedKey, now time.Time) {
	seconds := now.Unix()
	if g.state.usedAt.Load() >= seconds {
		return
	}
	g.state.usedAt.Store(seconds)
	if g.state.dirty.CompareAndSwap(false, true) {
		l.mu.Lock()
		l.keys = append(l.keys, g)
		l.mu.Unlock()
	}
}

// pending returns the days with counts that may not be in the store: dirty days and days of the current flush.
// Only days for which keep returns true are included.
func (l *usageCounters) pending(keep func(*daily) bool) []*daily {
	l.mu.Lock()
	defer l.mu.Unlock()
	var days []*daily
	for _, d := range l.days {
		if keep(d) {
			days = append(days, d)
		}
	}
	if l.batch != nil {
		for _, d := range l.batch.days {
			if !d.dirty.Load() && keep(d) { // else it is in l.days too
				days = append(days, d)
			}
		}
	}
	return days
}

// unwritten returns the number of counted calls that are not stored.
func (l *usageCounters) unwritten() int64 {
	sum := int64(0)
	for _, d := range l.pending(func(*daily) bool { return true }) {
		if all := d.counters.Load(); all != nil {
			for _, c := range *all {
				sum += c.now.calls.Load() - c.written.calls.Load()
			}
		}
	}
	return sum
}

// beginFlush starts the flush of a batch. The caller holds l.mu.
func (l *usageCounters) beginFlush(b *batch) {
	l.batch = b
	l.flushes++
	l.flushDone = make(chan struct{})
}

// endFlush ends the flush of a batch, successful or not. The caller holds l.mu.
func (l *usageCounters) endFlush() {
	l.batch = nil
	close(l.flushDone)
}

// waitFlushed waits until no flush runs, at most for limit. It returns the number of flushes begun
// before the wait.
func (l *usageCounters) waitFlushed(ctx context.Context, limit time.Duration) int {
	l.mu.Lock()
	begun, ended := l.flushes, l.flushDone
	l.mu.Unlock()
	if ended == nil {
		return begun
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	case <-ctx.Done():
	}
	return begun
}

// flushesBegun returns the number of flushes that have begun.
func (l *usageCounters) flushesBegun() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flushes
}
