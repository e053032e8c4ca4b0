package quota

import (
	"time"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// Call is one call of an account, from its admission to its end.
type Call struct {
	day     *day // day of the admission
	counter *counter
	// limit is the quota that applies to the call; 0 for none.
	limit int64
	// reserved is the part of the quota that is reserved for this call; 0 if the call is not counted.
	reserved int64
}

// Begin starts a call of an operation and records the use of the call's key. The parameter template is the path
// template of the operation, so that the number of operations is bounded.
func (a *Account) Begin(world schema.World, method, template string, key *KeyUse, now time.Time) Call {
	d := a.dayAt(world, now)
	a.counters.touch(key, now)
	return Call{day: d, counter: d.counter(operation{method, template})}
}

// Admit reserves one call of the account's quota, and reports whether the quota had a call left. The quota
// counts an exempt call, but never rejects it. In the sandbox, Admit returns true and reserves nothing.
func (c *Call) Admit(exempt bool) bool {
	if c.day.month == nil {
		return true
	}
	if !exempt {
		c.limit = c.day.account.limit.Load()
	}
	if _, ok := c.day.month.reserve(c.limit, 1); !ok {
		return false
	}
	c.reserved = 1
	return true
}

// Reserve raises the reservation to n calls, if Admit reserved one. If the quota does not suffice, the
// reservation stays as it is, and the result left is the largest n that Reserve could accept.
func (c *Call) Reserve(n int64) (left int64, ok bool) {
	if c.reserved == 0 || n <= c.reserved {
		return 0, true
	}
	left, ok = c.day.month.reserve(c.limit, n-c.reserved)
	if !ok {
		return left + c.reserved, false
	}
	c.reserved = n
	return left, true
}

// End counts the call and releases its reservation. The parameter counted is the number of calls of the quota
// that this call uses up. If Admit reserved no call, counted has no effect.
func (c *Call) End(failed bool, counted int64) {
	if c.reserved == 0 {
		counted = 0
	}
	a := c.day.account
	if m := c.day.month; m != nil {
		m.settle(c.reserved, counted, a.limit.Load())
	}
	a.counters.count(c.day, c.counter, failed, counted)
}

// State returns the account's quota and the usage of the quota; the zero value if there is no quota.
func (c *Call) State() httpapi.Quota {
	limit, m := c.day.account.limit.Load(), c.day.month
	if m == nil || limit == 0 {
		return httpapi.Quota{}
	}
	return httpapi.Quota{Limit: limit, Used: m.used.Load(), Reset: m.ends}
}

// SecondsLeft returns the seconds until the month of the call ends, at least 1.
func (c *Call) SecondsLeft(now time.Time) int { return int(max(1, c.day.month.ends-now.Unix())) }
