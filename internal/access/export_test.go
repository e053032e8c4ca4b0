package access

// Names that external tests use.
var (
	VerifyAuditPages = verifyAudit
	ParseSignature   = func(text string) bool { _, ok := parseSignature(text); return ok }
	PurgeOnce        = (*Service).purgeOnce
)
