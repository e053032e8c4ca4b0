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

// NewGuard makes what keeps clients from an engine that has failed.
var NewGuard = newBreaker

// BePatient has questions that memory can answer wait for newer days, and refusals
// for readings.
func (s *Service) BePatient(d time.Duration) {
	for _, a := range s.worlds {
		a.explainTimeout = d
		a.history.reloadTimeout = d
	}
}

// WaitForPins returns when the reading of pin codes has ended.
func (s *Service) WaitForPins(ctx context.Context) { s.pins.Wait(ctx) }
