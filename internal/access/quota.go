package access

import (
	"sync"
	"sync/atomic"
	"time"

	"vayu/schema"
)

// freePlan applies to accounts whose plan is not configured. freeCalls is the monthly limit if freePlan is not
// configured either.
const (
	freePlan  = "free"
	freeCalls = 1000
)

// plans remembers the unconfigured plans, each of which is logged once.
type plans struct {
	mu     sync.Mutex
	warned map[string]bool // plans that are already logged
}

// limitOf returns the calls per month of a plan; 0 for no limit.
func (s *Service) limitOf(plan string) int64 {
	if limit, known := s.Settings.Plans[plan]; known {
		return limit
	}
	limit, known := s.Settings.Plans[freePlan]
	if !known {
		limit = freeCalls
	}
	p := &s.counters.plans
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.warned[plan] {
		p.warned[plan] = true
		s.Log.Warn("a plan of accounts is not configured; its limit is that of "+freePlan, "plan", plan, "calls", limit)
	}
	return limit
}

// month is the usage of an account in one month (UTC) in the live world. The sandbox has no quota.
type month struct {
	account string
	period  string // 2026-11
	ends    int64  // seconds
	used    atomic.Int64
	// allocated is used plus the reservations of calls in flight.
	allocated atomic.Int64
	// usedAtMark holds, for each mark (80 or 100 per cent), the value of used when a call of this instance
	// reached it. It is 0 if no call did.
	usedAtMark [len(marks)]atomic.Int64

	// stored is the part of used that is in the store, from all instances. usageCounters.flushing guards it.
	stored int64
}

// reserve reserves n calls of a limit; limit 0 is no limit. If fewer than n calls are left, it reserves none.
// left is the number of calls that are left.
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

// settle replaces a reservation by the n calls that are counted; 0 for none. limit is the account's limit, to
// which the marks are relative.
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

// usedAt returns the used quota at which a mark was reached, if a call of this instance reached it. Otherwise
// it returns total, which may be higher.
func (m *month) usedAt(i int, limit, total int64) int64 {
	if at := m.usedAtMark[i].Load(); at != 0 && at <= total && marks[i].reached(at, limit) {
		return at
	}
	return total
}

// mergeTotal adds the calls that other instances have counted, according to the store's total. pushed is the
// part that this instance has just written; 0 after a read. The caller holds usageCounters.flushing, which
// excludes concurrent writes. Totals never fall, so an older total has no effect.
func (m *month) mergeTotal(total, pushed int64) {
	news := max(total, m.stored+pushed) - m.stored - pushed
	m.stored += pushed + news
	if news != 0 {
		m.allocated.Add(news)
		m.used.Add(news)
	}
}

// secondsLeft returns the seconds until the month ends, at least 1.
func (m *month) secondsLeft(now time.Time) int {
	return int(max(1, m.ends-now.Unix()))
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

// quotaWire returns a quota in the API's form.
func quotaWire(m *month, limit, used int64) schema.Quota {
	return schema.Quota{
		Period: m.period, Limit: limit, Used: used, Percent: used * 100 / limit,
		ResetsAt: schema.FormatTime(time.Unix(m.ends, 0)),
	}
}

// quotaOf returns the account's usage of this month in the live world, including unwritten calls.
// It is nil if the plan has no limit or the account is unknown.
func (s *Service) quotaOf(account string) *schema.Quota {
	holder := s.cache.account(account)
	if holder == nil || holder.limit == 0 {
		return nil
	}
	m := holder.counters.monthAt(s.Now())
	q := quotaWire(m, holder.limit, m.used.Load())
	return &q
}
