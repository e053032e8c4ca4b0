package access

import (
	"sync"
	"sync/atomic"
	"time"

	"vayu/schema"
)

// The plan of accounts whose plan is not in the configuration, and its calls
// per month (CONTRACT 2) when it is not there either.
const (
	freePlan  = "free"
	freeCalls = 1000
)

// plans knows how many calls each plan allows.
type plans struct {
	mu     sync.Mutex
	warned map[string]bool // plans of which the log has been told
}

// limitOf is how many calls per month a plan allows; 0 for no limit.
func (s *Service) limitOf(plan string) int64 {
	if limit, known := s.Settings.Plans[plan]; known {
		return limit
	}
	limit, known := s.Settings.Plans[freePlan]
	if !known {
		limit = freeCalls
	}
	p := &s.ledger.plans
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.warned[plan] {
		p.warned[plan] = true
		s.Log.Warn("a plan of accounts is not in the configuration; it is taken as "+freePlan, "plan", plan, "calls", limit)
	}
	return limit
}

// month is what an account has used of one month (UTC) in the live world.
type month struct {
	account string
	period  string // 2026-11
	ends    int64  // seconds
	used    atomic.Int64
	// taken is used and what calls in flight have reserved.
	taken atomic.Int64
	// crossed is, for each of the marks, what was used when it was reached here; 0 for
	// not yet, or by calls of another instance.
	crossed [len(marks)]atomic.Int64

	// stored is the part of used that the store has, of every instance; held by
	// ledger.writing.
	stored int64
}

// reserve takes n calls of a limit, 0 for none. When there are fewer it takes none;
// left is how many there are.
func (m *month) reserve(limit, n int64) (left int64, ok bool) {
	if limit == 0 {
		m.taken.Add(n)
		return 0, true
	}
	for {
		taken := m.taken.Load()
		if taken+n > limit {
			return max(0, limit-taken), false
		}
		if m.taken.CompareAndSwap(taken, taken+n) {
			return limit - taken - n, true
		}
	}
}

// settle ends a reservation of so many calls: the call counts as n, 0 for not at all.
// Limit is that of the account, for the marks.
func (m *month) settle(reserved, n, limit int64) {
	if n != reserved {
		m.taken.Add(n - reserved)
	}
	if n == 0 {
		return
	}
	used := m.used.Add(n)
	for i := range marks {
		if limit != 0 && marks[i].reached(used, limit) && !marks[i].reached(used-n, limit) {
			m.crossed[i].Store(used)
		}
	}
}

// usedAt is what was used when a mark was reached, as far as it is known here: of a
// burst that is written at once, the total is more. Otherwise it is the total.
func (m *month) usedAt(i int, limit, total int64) int64 {
	if at := m.crossed[i].Load(); at != 0 && at <= total && marks[i].reached(at, limit) {
		return at
	}
	return total
}

// learn takes over the store's total, of which this instance has just written
// pushed; 0 when the total was only read. The caller holds ledger.writing, so
// that a total and what was written to it are never seen apart. Totals never
// fall, and an older one changes nothing.
func (m *month) learn(total, pushed int64) {
	news := max(total, m.stored+pushed) - m.stored - pushed
	m.stored += pushed + news
	if news != 0 {
		m.taken.Add(news)
		m.used.Add(news)
	}
}

// left is how many seconds remain of the month, at least 1.
func (m *month) left(now time.Time) int {
	return int(max(1, m.ends-now.Unix()))
}

// periodOf names the month of a time.
func periodOf(now time.Time) string { return now.UTC().Format("2006-01") }

// monthOf is the month of a time, with nothing used.
func monthOf(account string, now time.Time) *month {
	y, m, _ := now.UTC().Date()
	return &month{
		account: account,
		period:  periodOf(now),
		ends:    time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC).Unix(),
	}
}

// quotaFigures is the wire form of a quota.
func quotaFigures(m *month, limit, used int64) schema.Quota {
	return schema.Quota{
		Period: m.period, Limit: limit, Used: used, Percent: used * 100 / limit,
		ResetsAt: time.Unix(m.ends, 0).UTC().Format(time.RFC3339),
	}
}

// quotaOf is what an account has used of this month in the live world, what is
// not yet written included; nil when its plan has no limit or nobody knows it.
func (s *Service) quotaOf(account string) *schema.Quota {
	holder := s.book.account(account)
	if holder == nil || holder.limit == 0 {
		return nil
	}
	m := holder.tally.monthAt(s.Now())
	q := quotaFigures(m, holder.limit, m.used.Load())
	return &q
}
