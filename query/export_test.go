package query

import (
	"context"
	"time"
)

// CheckQuestion parses a query of GET /v1/aqi.
func CheckQuestion(raw string, now time.Time) error {
	_, err := parse(raw, now)
	return err
}

// WaitForPins returns when the reading of pin codes has ended.
func (s *Service) WaitForPins(ctx context.Context) { s.pins.Wait(ctx) }
