package pagination

import "github.com/oklog/ulid/v2"

// FirstID is the least id that something of a moment can have whose ids are a prefix
// and a ULID, in microseconds of UTC; false when ids do not reach that far.
func FirstID(prefix string, micros int64) (string, bool) {
	ms := micros / 1000
	if micros < 0 || uint64(ms) > ulid.MaxTime() {
		return "", false
	}
	var id ulid.ULID
	_ = id.SetTime(uint64(ms)) // it is in its range
	return prefix + id.String(), true
}
