package verify

import (
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/namematch"
	"vayu/pipeline/verify/request"
	"vayu/schema"
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

// beneficiaryOf returns the bank's description of an account, and whether the account satisfies a
// request.
func beneficiaryOf(p *request.Private, threshold int, a *bank.Account) (found schema.Beneficiary, verified bool) {
	found = schema.Beneficiary{
		NameMatch: schema.NameNone, BeneficiaryName: a.Name, Bank: a.Bank, Branch: a.Branch, AccountStatus: a.Status,
		Suspicious: len(a.Reasons) > 0, SuspiciousReasons: bank.ReasonCodes(a.Reasons),
	}
	if p.Name != "" {
		found.NameMatch, found.NameMatchScore = compare(p.Name, a.Name, threshold)
	}
	return found, a.Status == schema.AccountActive && (p.Name == "" || found.NameMatch != schema.NameNone)
}
