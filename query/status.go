package query

import (
	"time"

	"vayu/query/rollup"
	"vayu/schema"
)

// Newest returns the newest hour of any city in the snapshot of a world, in UTC. It
// returns false if there is no snapshot, or no city in it has an hour.
func (s *Service) Newest(world schema.World) (time.Time, bool) {
	snap := s.worlds[world].publisher.Latest()
	if snap == nil || snap.Newest() == 0 {
		return time.Time{}, false
	}
	return rollup.Instant(snap.Newest()), true
}
