package sandbox

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// scenario is the prepared result for an account or address.
type scenario int

// The scenarios. The number of a scenario is the last four digits of its magic account numbers.
const (
	isExact scenario = iota + 1
	isPartial
	isOther
	isDormant
	isFrozen
	isClosed
	isMissing
	isSuspicious
	isTimeout // no answer to deposits and lookups in the first 30 s
	isSlow    // the answer comes 25 s after the order's creation
)

// magicAddresses are the UPI addresses with a fixed scenario.
var magicAddresses = map[string]scenario{
	"success@upi": isExact, "failure@upi": isMissing, "partial@upi": isPartial,
	"dormant@upi": isDormant, "suspicious@upi": isSuspicious, "timeout@upi": isTimeout,
}

func scenarioOfAddress(vpa string) scenario {
	if f, ok := magicAddresses[vpa]; ok {
		return f
	}
	return hashedScenario(vpa)
}

func scenarioOfAccount(number, ifsc string) scenario {
	if n, err := strconv.Atoi(number[max(0, len(number)-4):]); err == nil && n >= int(isExact) && n <= int(isSlow) {
		return scenario(n)
	}
	return hashedScenario(number + ifsc)
}

// hashedScenario returns the scenario of an account or address that has no fixed scenario.
func hashedScenario(target string) scenario {
	switch share := hash(target) % 100; {
	case share < 90:
		return isExact
	case share < 93:
		return isPartial
	case share < 95:
		return isOther
	case share < 97:
		return isDormant
	case share < 98:
		return isSuspicious
	default:
		return isMissing
	}
}

// hash maps texts to evenly distributed numbers.
func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	sum := h.Sum64()
	return sum ^ sum>>32 // FNV mixes the last characters too little into the low bits
}

// statuses are the account statuses in the scenarios with an inactive account.
var statuses = map[scenario]schema.AccountStatus{
	isDormant: schema.AccountDormant, isFrozen: schema.AccountFrozen, isClosed: schema.AccountClosed,
}

// answer returns the final answer for an order.
func (f scenario) answer(o bank.Order) bank.Answer {
	a := bank.Answer{Outcome: bank.NotFound, ProviderRef: Name + "-" + o.Reference}
	if f == isMissing {
		return a
	}
	a.Outcome = bank.Found
	a.Account = bank.Account{Name: f.name(o), Status: schema.AccountActive}
	if s, ok := statuses[f]; ok {
		a.Account.Status = s
	}
	if f == isSuspicious {
		a.Account.Reasons = []string{bank.UnusualActivity}
	}
	if o.Method == schema.VerifyPennyDrop {
		a.UTR = fmt.Sprintf("%012d", hash(o.Reference)%1e12)
		a.Account.Branch = branches[hash(o.IFSC)%uint64(len(branches))]
	}
	return a
}

// branches are invented branch names.
var branches = []string{
	"Main Branch", "Station Road", "Gandhi Nagar", "Market Yard", "Civil Lines", "Industrial Estate", "University Campus", "Ring Road",
	"Lake View", "Court Road", "Temple Street", "Old Town",
}
