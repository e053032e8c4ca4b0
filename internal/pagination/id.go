package pagination

import "github.com/oklog/ulid/v2"

// FirstID returns the least id with the given prefix and a ULID of the time, in Unix
// microseconds. It returns false if a ULID cannot represent the time.
func FirstID(prefix string, micros int64) (string, bool) {
	ms := micros / 1000
	if micros < 0 || uint64(ms) > ulid.MaxTime() {
		return "", false
	}
	var id ulid.ULID
	_ = id.SetTime(uint64(ms)) // ms is in range
	return prefix + id.String(), true
}
