package access

import "vayu/internal/access/signature"

// Names that external tests use.
var (
	ParseSignature = func(text string) bool { _, ok := signature.Parse(text); return ok }
	PurgeOnce      = (*Service).purgeOnce
)
