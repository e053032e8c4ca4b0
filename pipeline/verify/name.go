package verify

import (
	"slices"

	"vayu/pipeline/verify/namematch"
	"vayu/schema"
)

// The least scores of the tolerances that have a name (CONTRACT 5). Only the same
// words have a score of 100.
const (
	strict   = 100
	standard = 70
	lenient  = 50
)

// compare says how alike the expected name and the registered one are, at a
// threshold.
func compare(expected, registered string, threshold int) (schema.NameMatch, int) {
	switch m := namematch.Compare(expected, registered); {
	case m.Exact:
		return schema.NameExact, m.Score
	case m.Score >= threshold:
		return schema.NamePartial, m.Score
	default:
		return schema.NameNone, m.Score
	}
}

// fillBeneficiary is what an account that exists is to a request.
func beneficiaryOf(p *Private, threshold int, a *Account) (found schema.Beneficiary, verified bool) {
	found = schema.Beneficiary{
		NameMatch: schema.NameNone, BeneficiaryName: a.Name, Bank: a.Bank, Branch: a.Branch, AccountStatus: a.Status,
		Suspicious: len(a.Reasons) > 0, SuspiciousReasons: reasonCodes(a.Reasons),
	}
	if p.Name != "" {
		found.NameMatch, found.NameMatchScore = compare(p.Name, a.Name, threshold)
	}
	return found, a.Status == schema.AccountActive && (p.Name == "" || found.NameMatch != schema.NameNone)
}

// reasonCodes are the reasons of a bank as they are shown: each once, and none in words of
// its own.
func reasonCodes(reasons []string) []string {
	out := []string{}
	for _, code := range reasons {
		if !slices.Contains(Reasons, code) {
			code = FlaggedByBank
		}
		if !slices.Contains(out, code) {
			out = append(out, code)
		}
	}
	return out
}
