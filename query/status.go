package query

import (
	"time"

	"vayu/schema"
)

// Newest returns the newest hour of any city in a world's snapshot, in UTC. It
// returns false if there is no snapshot or no hour in it.
func (s *Service) Newest(world schema.World) (time.Time, bool) {
	snap := s.worlds[world].publisher.latest()
	if snap == nil || snap.newest() == 0 {
		return time.Time{}, false
	}
	return instant(snap.newest()), true
}
