package access

// What tests outside the package look at.
var (
	VerifyAuditPages = verifyAudit
	ParseSignature   = func(text string) bool { _, ok := parseSignature(text); return ok }
	PurgeOnce        = (*Service).purgeOnce
)
