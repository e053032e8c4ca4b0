package query

import (
	"context"
	"time"

	"vayu/query/request"
	"vayu/schema"
)

// CheckQuery parses a query of GET /v1/aqi.
func CheckQuery(raw string, now time.Time) error {
	_, err := request.Parse(raw, now)
	return err
}

// ExtendTimeouts extends the timeouts for newer days and for explanations.
func (s *Service) ExtendTimeouts(d time.Duration) {
	for _, w := range s.worlds {
		w.explainTimeout = d
		w.history.SetReloadTimeout(d)
	}
}

// WaitForPins waits until the pin codes are loaded.
func (s *Service) WaitForPins(ctx context.Context) { s.pins.Wait(ctx) }

// RefreshForecasts reads the latest issue of forecasts of a world, if it is new.
func (s *Service) RefreshForecasts(ctx context.Context, world schema.World) error {
	return s.worlds[world].forecasts.Refresh(ctx)
}
