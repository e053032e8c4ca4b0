package pagination

import (
	"math"
	"time"

	"github.com/oklog/ulid/v2"
)

// FirstID returns the least id that an entry created at the time `micros` (Unix microseconds) can have. An id is a
// prefix and a ULID. FirstID returns false if a ULID cannot represent the time.
func FirstID(prefix string, micros int64) (string, bool) {
	ms := micros / 1000
	if micros < 0 || uint64(ms) > ulid.MaxTime() {
		return "", false
	}
	var id ulid.ULID
	_ = id.SetTime(uint64(ms)) // ms is in range
	return prefix + id.String(), true
}

// IDRange returns the range [first, end) of the ids that a page of a list can contain. The list shows entries created
// in the time range [from, to), in Unix microseconds, newest first. `after` is the last id of the previous page, or "".
// An id has its creation time in milliseconds, so the range may exceed [from, to) by up to a millisecond at each end.
func IDRange(prefix string, from, to int64, after string) (first, end string) {
	first, end = prefix, string(prefix[0]+1) // end is greater than every id of the prefix, in every collation
	if id, ok := FirstID(prefix, from); ok {
		first = id
	}
	if to < math.MaxInt64-time.Millisecond.Microseconds() {
		if id, ok := FirstID(prefix, to+time.Millisecond.Microseconds()); ok {
			end = id
		}
	}
	if after != "" {
		end = min(end, after)
	}
	return first, end
}
