package quota

import (
	"time"

	"vayu/internal/httpapi"
)

// Call is one API call of an account, from its admission to its end.
type Call struct {
	account *Account
	row     usageRow
	at      int64 // time of the admission, seconds
	// limit is the quota that can reject the call. It is 0 if none can: in the sandbox, without a limit, or if exempt.
	limit int64
	// reserved is the part of the quota that is reserved for this call. It is 0 if the call is not counted towards it.
	reserved int64
}

// Admit reserves one call of the account's quota, and reports whether the quota had a call left. If `exempt` is true,
// the quota counts the call but never rejects it. In the sandbox, Admit returns true and reserves nothing.
func (c *Call) Admit(exempt bool) bool {
	if c.row.month == nil {
		return true
	}
	if !exempt {
		c.limit = c.account.limit.Load()
	}
	c.account.mu.Lock()
	defer c.account.mu.Unlock()
	if _, ok := c.row.month.reserve(c.limit, 1); !ok {
		return false
	}
	c.reserved = 1
	return true
}

// Reserve raises the reservation to n calls, if Admit has reserved a call. If the quota does not suffice, the
// reservation stays as it is, and the result `left` is the largest n that Reserve could accept.
func (c *Call) Reserve(n int64) (left int64, ok bool) {
	if c.reserved == 0 || n <= c.reserved {
		return 0, true
	}
	c.account.mu.Lock()
	defer c.account.mu.Unlock()
	left, ok = c.row.month.reserve(c.limit, n-c.reserved)
	if !ok {
		return left + c.reserved, false
	}
	c.reserved = n
	return left, true
}

// End counts the call and releases its reservation. If Admit reserved a call, `counted` calls are added to the usage
// that counts towards the quota. End returns the quota's state after that.
func (c *Call) End(failed bool, counted int64) httpapi.Quota {
	if c.reserved == 0 {
		counted = 0
	}
	one := sums{calls: 1, counted: counted}
	if failed {
		one.failed = 1
	}
	a := c.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := c.row.month; m != nil {
		m.settle(c.reserved, counted, a.limit.Load())
	}
	a.pending.add(c.row, one)
	a.pending.keys[c.row.key] = max(a.pending.keys[c.row.key], c.at)
	a.markDirty()
	return c.state()
}

// State returns the account's quota and its usage, or the zero value if there is no quota.
func (c *Call) State() httpapi.Quota {
	c.account.mu.Lock()
	defer c.account.mu.Unlock()
	return c.state()
}

// state returns the result of [Call.State], for a caller that holds the lock of the account.
func (c *Call) state() httpapi.Quota {
	limit, m := c.account.limit.Load(), c.row.month
	if m == nil || limit == 0 {
		return httpapi.Quota{}
	}
	return httpapi.Quota{Limit: limit, Used: m.used, Reset: m.ends}
}

// SecondsLeft returns the seconds until the month of a live call ends, at least 1. It panics for a sandbox call.
func (c *Call) SecondsLeft(now time.Time) int { return int(max(1, c.row.month.ends-now.Unix())) }
