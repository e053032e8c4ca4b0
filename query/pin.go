package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/query/places"
	"vayu/schema"
)

// pinTimeout is how long a query waits for the pin codes to be loaded. After a start, that takes about a second.
const pinTimeout = 3 * time.Second

// waitForPins waits until the pin codes are loaded, but at most pinTimeout.
func (s *Service) waitForPins(ctx context.Context) {
	if s.pins.Len() == 0 {
		ctx, cancel := context.WithTimeout(ctx, pinTimeout)
		defer cancel()
		s.pins.Wait(ctx)
	}
}

func (s *Service) locatePin(ctx context.Context, code int32) (places.Point, error) {
	s.waitForPins(ctx)
	pin, ok, err := s.pins.Find(code)
	switch {
	case errors.Is(err, places.ErrNoPins):
		return places.Point{}, schema.NewProblem(schema.ServiceUnavailable, "pincode", "Pin codes are unavailable at the moment. Send city instead.")
	case err != nil:
		return places.Point{}, err
	case !ok:
		return places.Point{}, schema.NewProblem(schema.LocationNotFound, "pincode", fmt.Sprintf("No place has the pin code %d.", code))
	}
	return pin.Position, nil
}
