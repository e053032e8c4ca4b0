package access

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"vayu/schema"
)

// ledger is what was counted and is not in the store yet.
//
// A call adds to the counter of its account, world, day and operation. A day
// with something to write stands in a list, so that writing looks at nothing
// else; once it is over and written nobody holds it any more.
type ledger struct {
	plans plans

	newBuckets func() worldBuckets // of a new account

	mu      sync.Mutex // of what follows, for moments
	tallies map[string]*tally
	days    []*daily      // those that are dirty
	keys    []*grant      // those whose use is to be written
	batch   *batch        // being written now; nil for none
	begun   int           // writings that have begun
	ended   chan struct{} // closed when the writing of batch ends

	// writing is held while totals of the store are read or written, until memory
	// knows them.
	writing sync.Mutex
	period  string // of the last reading of totals
	readAt  time.Time
}

func (l *ledger) init(newBuckets func() worldBuckets) {
	l.newBuckets = newBuckets
	l.plans.warned = map[string]bool{}
	l.tallies = map[string]*tally{}
}

// tally is what is counted of one account, and the buckets that its keys share.
type tally struct {
	account string
	buckets worldBuckets
	month   atomic.Pointer[month]
	today   [len(schema.Worlds)]atomic.Pointer[daily]
	mu      sync.Mutex // of replacing month and today
}

// tally returns the one tally of an account.
func (l *ledger) tally(account string) *tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tallies[account]
	if t == nil {
		t = &tally{account: account, buckets: l.newBuckets()}
		l.tallies[account] = t
	}
	return t
}

// monthAt is the account's month. A clock that goes back stays in the later
// month.
func (t *tally) monthAt(now time.Time) *month {
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

// dayAt is the account's day in a world.
func (t *tally) dayAt(world schema.World, now time.Time) *daily {
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

// daily is what an account did on one day (UTC) in one world.
type daily struct {
	account string
	world   schema.World
	date    string // 2026-11-21
	ends    int64  // seconds
	month   *month // nil in the sandbox, where nothing counts
	dirty   atomic.Bool

	counters atomic.Pointer[map[operation]*counter] // replaced, never changed
	mu       sync.Mutex                             // of replacing counters
}

// operation is a route: its template, so that there are as many as routes.
type operation struct{ method, path string }

// String is how usage_day names an operation.
func (o operation) String() string { return o.method + " " + o.path }

// counter counts the calls of one operation on one day; what of it is in the
// store is counted beside it.
type counter struct {
	now, written sums
}

// sums are the three figures of a line of usage_day.
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

// count adds one call to a counter of a day. What is dirty was marked after the
// sums, and writing clears the mark before it reads them: nothing is missed.
func (l *ledger) count(d *daily, c *counter, failed bool, counted int64) {
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

// touch remembers that a key was used.
func (l *ledger) touch(g *grant, now time.Time) {
	seconds := now.Unix()
	if g.memory.usedAt.Load() >= seconds {
		return
	}
	g.memory.usedAt.Store(seconds)
	if g.memory.dirty.CompareAndSwap(false, true) {
		l.mu.Lock()
		l.keys = append(l.keys, g)
		l.mu.Unlock()
	}
}

// pending are the days of which something is not in the store, or not known to
// be there: those that are dirty, and those that are being written. keep selects
// among them.
func (l *ledger) pending(keep func(*daily) bool) []*daily {
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
			if !d.dirty.Load() && keep(d) { // else it is in the list again
				days = append(days, d)
			}
		}
	}
	return days
}

// unwritten is how many calls were counted and are not in the store.
func (l *ledger) unwritten() int64 {
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

// begin starts the writing of a batch. The caller holds l.mu.
func (l *ledger) begin(b *batch) {
	l.batch = b
	l.begun++
	l.ended = make(chan struct{})
}

// end ends the writing of a batch, whatever came of it. The caller holds l.mu.
func (l *ledger) end() {
	l.batch = nil
	close(l.ended)
}

// still waits until nothing is being written, at most for limit, and returns how
// many writings have begun so far.
func (l *ledger) still(ctx context.Context, limit time.Duration) int {
	l.mu.Lock()
	begun, ended := l.begun, l.ended
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

// writings is how many have begun.
func (l *ledger) writings() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun
}
