package signup

import "context"

// Process does what Run does each minute.
func (s *Service) Process(ctx context.Context) error { return s.mails.Process(ctx) }
