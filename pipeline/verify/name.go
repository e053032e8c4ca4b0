package verify

import (
	"slices"

	"vayu/pipeline/verify/namematch"
	"vayu/schema"
)

// Least scores of the named tolerances (CONTRACT 5). Only equal words have a score of 100.
const (
	strict   = 100
	standard = 70
	lenient  = 50
)

// compare classifies the similarity of the expected and the registered name at a threshold.
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

// beneficiaryOf returns the bank's description of an account and whether it satisfies a
// request.
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

// reasonCodes returns a bank's codes of suspicion without duplicates. An unknown code becomes
// FlaggedByBank.
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
