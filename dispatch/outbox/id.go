package outbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/pagination"
)

// idPrefix is the prefix of event ids; a ULID follows.
const idPrefix = "evt_"

// ids generates the ids and times of events. Within a process, both ascend even if the clock goes back. An id contains
// the time of its event in milliseconds, so a time range is a range of ids.
type ids struct {
	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    time.Time
}

func (i *ids) init() { i.entropy = ulid.Monotonic(rand.Reader, 0) }

// next returns the next id and its time, in UTC and truncated to microseconds. It fails only for times before 1970 or
// after 10889.
func (i *ids) next(now time.Time) (string, time.Time, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now = now.UTC().Round(0).Truncate(time.Microsecond)
	if now.Before(i.last) {
		now = i.last
	}
	id, err := ulid.New(ulid.Timestamp(now), i.entropy)
	if errors.Is(err, ulid.ErrMonotonicOverflow) { // the ids of this millisecond are used up; use the next one
		now = now.Truncate(time.Millisecond).Add(time.Millisecond)
		id, err = ulid.New(ulid.Timestamp(now), i.entropy)
	}
	if err != nil {
		return "", time.Time{}, fmt.Errorf("making an id: %w", err)
	}
	i.last = now
	return idPrefix + id.String(), now, nil
}

// idAt returns the lowest id of the millisecond that contains the time `micros`, in Unix microseconds. It returns ""
// for a time before 1970, and an id above all others for a time that a ULID cannot represent.
func idAt(micros int64) string {
	id, ok := pagination.FirstID(idPrefix, micros)
	if !ok && micros > 0 {
		return idPrefix + strings.Repeat("Z", ulid.EncodedSize)
	}
	return id
}

// timeOf returns the time that an id contains; the zero time for an invalid id.
func timeOf(id string) time.Time {
	parsed, err := ulid.ParseStrict(strings.TrimPrefix(id, idPrefix))
	if err != nil {
		return time.Time{}
	}
	return parsed.Timestamp()
}
