package quota

import "vayu/internal/config"

// FreePlan is the plan of the account that the first start of the service creates. It also applies to an account whose
// plan is missing from the setting "plans".
const FreePlan = "free"

// mostCalls is the largest limit of a plan. A percentage is computed from usage multiplied by 100. The product
// must fit into 64 bits, even if the usage exceeds the limit.
const mostCalls = 1_000_000_000_000_000

// DefaultPlans returns the calls per month of each plan. A plan with 0 calls has no limit.
func DefaultPlans() map[string]int64 {
	return map[string]int64{FreePlan: 1000, "standard": 100_000, "unlimited": 0}
}

// CheckPlans returns every fault of the setting "plans".
func CheckPlans(plans map[string]int64) []error {
	var f config.Faults
	_, there := plans[FreePlan]
	f.Check(there, "plans", "%s: must be there, because the first start makes an account with it; plans that are given stand in place of the usual ones", FreePlan)
	for plan, calls := range plans {
		f.Check(plan != "", "plans", "a plan needs a name")
		f.Check(calls >= 0, "plans", "%s: must not be negative; 0 is for no limit", plan)
		f.Check(calls <= mostCalls, "plans", "%s: must be at most %d; 0 is for no limit", plan, int64(mostCalls))
	}
	return f
}

// limitOf returns the calls per month of a plan, or 0 if the plan has no limit. A plan that is not configured has the
// limit of FreePlan, and is logged once.
func (c *Counters) limitOf(plan string) int64 {
	limit, known := c.Plans[plan]
	if known {
		return limit
	}
	limit = c.Plans[FreePlan]
	if _, logged := c.warned.LoadOrStore(plan, true); !logged {
		c.Log.Warn("a plan of accounts is not configured; its limit is that of "+FreePlan, "plan", plan, "calls", limit)
	}
	return limit
}
