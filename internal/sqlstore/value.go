package sqlstore

import (
	"database/sql"
	"time"
)

// Micros converts a time for the store, microseconds since 1970 UTC; NULL for zero.
func Micros(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// FromMicros converts a time of the store; zero for NULL.
func FromMicros(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64).UTC()
}

// TruncateMicros returns a time in UTC with the precision of the store.
func TruncateMicros(at time.Time) time.Time { return at.UTC().Truncate(time.Microsecond) }

// BoolToInt converts a truth value for the store: 0 or 1.
func BoolToInt(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
