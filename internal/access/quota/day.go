package quota

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"vayu/schema"
)

// day is the usage of an account on one day (UTC) in one world (live or sandbox).
type day struct {
	account *Account
	world   schema.World
	date    string // such as 2026-11-21
	ends    int64  // seconds
	month   *month // nil in the sandbox, which has no quota
	dirty   atomic.Bool

	counters atomic.Pointer[map[operation]*counter] // replaced, never changed
	mu       sync.Mutex                             // guards the replacement of counters
}

// operation is the method and the path template of an endpoint. With templates, the number of operations is
// bounded.
type operation struct{ method, path string }

// String returns the name of an operation in table usage_day.
func (o operation) String() string { return o.method + " " + o.path }

// counter counts the calls of one operation on one day. Its field written counts the calls that are stored.
type counter struct {
	now, written sums
}

// sums are the three counts in a row of table usage_day.
type sums struct {
	calls, failed, counted atomic.Int64
}

// counter returns the day's counter of an operation.
func (d *day) counter(o operation) *counter {
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
func (l *Counters) count(d *day, c *counter, failed bool, counted int64) {
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

// KeyUse is the time of the last use of a key.
type KeyUse struct {
	key    string
	usedAt atomic.Int64 // seconds
	dirty  atomic.Bool  // usedAt has not been written to the store
}

// NewKeyUse returns the use of a key that this instance has not admitted yet.
func NewKeyUse(key string) *KeyUse { return &KeyUse{key: key} }

// touch records now as the time of the last use of a key.
func (l *Counters) touch(k *KeyUse, now time.Time) {
	seconds := now.Unix()
	if k.usedAt.Load() >= seconds {
		return
	}
	k.usedAt.Store(seconds)
	if k.dirty.CompareAndSwap(false, true) {
		l.mu.Lock()
		l.keys = append(l.keys, k)
		l.mu.Unlock()
	}
}

// pending returns the days with counts that may not be in the store: dirty days and days of the current flush.
// Only days for which keep returns true are included.
func (l *Counters) pending(keep func(*day) bool) []*day {
	l.mu.Lock()
	defer l.mu.Unlock()
	var days []*day
	for _, d := range l.days {
		if keep(d) {
			days = append(days, d)
		}
	}
	if l.batch != nil {
		for _, d := range l.batch.days {
			if !d.dirty.Load() && keep(d) { // a dirty day is already in l.days
				days = append(days, d)
			}
		}
	}
	return days
}

// unwritten returns the number of calls whose counts are not in the store.
func (l *Counters) unwritten() int64 {
	sum := int64(0)
	for _, d := range l.pending(func(*day) bool { return true }) {
		if all := d.counters.Load(); all != nil {
			for _, c := range *all {
				sum += c.now.calls.Load() - c.written.calls.Load()
			}
		}
	}
	return sum
}

// beginFlush starts the flush of a batch. The caller holds l.mu.
func (l *Counters) beginFlush(b *batch) {
	l.batch = b
	l.flushes++
	l.flushDone = make(chan struct{})
}

// endFlush ends the flush of a batch, successful or not. The caller holds l.mu.
func (l *Counters) endFlush() {
	l.batch = nil
	close(l.flushDone)
}

// waitFlushed waits until the current flush ends, at most for limit. It returns the number of flushes that had
// begun before the wait.
func (l *Counters) waitFlushed(ctx context.Context, limit time.Duration) int {
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
func (l *Counters) flushesBegun() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flushes
}
