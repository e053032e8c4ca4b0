package query

import (
	"vayu/internal/httpapi"
	"vayu/query/public"
)

// PublicRoutes returns the routes that need no key. It returns none unless a world is public. `baseURL` returns the
// URL of the API for clients. If `limited` is true, the rate of requests from each address is limited.
func (s *Service) PublicRoutes(of public.Setting, baseURL func() string, limited bool) []httpapi.Route {
	world, on := of.World()
	if !on {
		return nil
	}
	w := s.worlds[world]
	return public.Routes(public.Config{
		World: world, Snapshot: w.publisher.Latest, History: w.history, Tiles: w.tiles, Slots: &s.historySlots,
		Locate: s.locatePin, BaseURL: baseURL, Limited: limited, Now: s.now,
	})
}
