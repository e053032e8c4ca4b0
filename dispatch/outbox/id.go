package outbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// idPrefix begins the id of an event, and a ULID ends it.
const idPrefix = "evt_"

// ids makes the ids and times of events. Neither ever goes back in a process,
// whatever the clock does: the time in an id is that of its event, to the
// millisecond, so a range of time is a range of ids.
type ids struct {
	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    time.Time
}

func (i *ids) init() { i.entropy = ulid.Monotonic(rand.Reader, 0) }

// next is the id of what happens now, and when that is, in microseconds of UTC.
// It fails only for a time before 1970 or after the year 10889.
func (i *ids) next(now time.Time) (string, time.Time, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now = now.UTC().Round(0).Truncate(time.Microsecond)
	if now.Before(i.last) {
		now = i.last
	}
	id, err := ulid.New(ulid.Timestamp(now), i.entropy)
	if errors.Is(err, ulid.ErrMonotonicOverflow) { // so many in this millisecond that the next one begins
		now = now.Truncate(time.Millisecond).Add(time.Millisecond)
		id, err = ulid.New(ulid.Timestamp(now), i.entropy)
	}
	if err != nil {
		return "", time.Time{}, fmt.Errorf("making an id: %w", err)
	}
	i.last = now
	return idPrefix + id.String(), now, nil
}

// idAt is the first id of the millisecond that holds a time; "" for a time before
// 1970, and the last of all ids for a time that no id can have.
func idAt(micros int64) string {
	const maxMillis = 1<<48 - 1
	millis := micros / 1000
	switch {
	case micros < 0:
		return ""
	case millis > maxMillis:
		return idPrefix + strings.Repeat("Z", ulid.EncodedSize)
	}
	var id ulid.ULID
	_ = id.SetTime(uint64(millis)) // in range
	return idPrefix + id.String()
}

// timeOf is the time in an id; zero for what is no id.
func timeOf(id string) time.Time {
	parsed, err := ulid.ParseStrict(strings.TrimPrefix(id, idPrefix))
	if err != nil {
		return time.Time{}
	}
	return parsed.Timestamp()
}
