package quota

import (
	"sync/atomic"
	"time"

	"vayu/schema"
)

// month is the usage of an account in one month (UTC) in the live world. The sandbox has no quota.
type month struct {
	account string
	period  string // such as 2026-11
	ends    int64  // seconds
	used    atomic.Int64
	// allocated is used plus the reservations of calls in flight.
	allocated atomic.Int64
	// usedAtMark holds, for each mark (80 or 100 per cent), the value of used when a call of this instance
	// reached the mark. The value is 0 if no call of this instance reached it.
	usedAtMark [len(marks)]atomic.Int64

	// stored is the part of used that is in the store, from all instances. Counters.flushing guards it.
	stored int64
}

// reserve reserves n calls of a quota; a limit of 0 means no limit. If fewer than n calls are left, it
// reserves none. The result left is the number of calls that are left; 0 without a limit.
func (m *month) reserve(limit, n int64) (left int64, ok bool) {
	if limit == 0 {
		m.allocated.Add(n)
		return 0, true
	}
	for {
		taken := m.allocated.Load()
		if taken+n > limit {
			return max(0, limit-taken), false
		}
		if m.allocated.CompareAndSwap(taken, taken+n) {
			return limit - taken - n, true
		}
	}
}

// settle replaces a reservation by the n calls that are counted; 0 for none. The parameter limit is the
// account's limit; a mark is a percentage of that limit.
func (m *month) settle(reserved, n, limit int64) {
	if n != reserved {
		m.allocated.Add(n - reserved)
	}
	if n == 0 {
		return
	}
	used := m.used.Add(n)
	for i := range marks {
		if limit != 0 && marks[i].reached(used, limit) && !marks[i].reached(used-n, limit) {
			m.usedAtMark[i].Store(used)
		}
	}
}

// usedAt returns the used quota at which a mark was reached, if a call of this instance reached the mark.
// Otherwise it returns total, which may be higher.
func (m *month) usedAt(i int, limit, total int64) int64 {
	if at := m.usedAtMark[i].Load(); at != 0 && at <= total && marks[i].reached(at, limit) {
		return at
	}
	return total
}

// mergeTotal adds the calls that other instances have counted, according to the store's total. The parameter
// pushed is the number of calls that this instance has just written; 0 after a read. The caller holds
// Counters.flushing, which excludes concurrent writes. Totals never fall, so an older total has no effect.
func (m *month) mergeTotal(total, pushed int64) {
	news := max(total, m.stored+pushed) - m.stored - pushed
	m.stored += pushed + news
	if news != 0 {
		m.allocated.Add(news)
		m.used.Add(news)
	}
}

// periodOf returns the name of the month of a time.
func periodOf(now time.Time) string { return now.UTC().Format("2006-01") }

// monthOf returns the month of a time, with no calls used.
func monthOf(account string, now time.Time) *month {
	y, m, _ := now.UTC().Date()
	return &month{
		account: account,
		period:  periodOf(now),
		ends:    time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC).Unix(),
	}
}

// wire returns the quota in the API's form.
func (m *month) wire(limit, used int64) schema.Quota {
	return schema.Quota{
		Period: m.period, Limit: limit, Used: used, Percent: used * 100 / limit,
		ResetsAt: schema.FormatTime(time.Unix(m.ends, 0)),
	}
}
