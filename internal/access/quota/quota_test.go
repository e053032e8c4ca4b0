package quota

import (
	"testing"
	"time"
)

// The calls of an instance are known elsewhere within a second: after a flush and a reading of totals. A third of
// the second is left for the store.
func TestIntervalsLeaveRoomForStaleness(t *testing.T) {
	t.Parallel()
	const longest = (flushEvery + 1) * totalsInterval
	if longest > time.Second*2/3 {
		t.Errorf("calls are known elsewhere after %s, which leaves too little of a second", longest)
	}
}
