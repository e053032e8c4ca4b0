package access

import (
	"time"

	"vayu/internal/access/signature"
)

// Names that external tests use.
var (
	ParseSignature = func(text string) bool { _, ok := signature.Parse(text); return ok }
	PurgeOnce      = (*Service).purgeOnce
)

// WaitForStore makes an instance that does not run wait a minute for the store, because a machine may be busy.
func (s *Service) WaitForStore() { s.follower.Timeout = time.Minute }
