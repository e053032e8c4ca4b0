package sqlstore

import (
	"database/sql"
	"time"
)

// Micros converts a time to the store's format: microseconds since 1970 UTC, NULL for the zero time.
func Micros(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// FromMicros converts a time from the store's format. It returns the zero time for NULL.
func FromMicros(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64).UTC()
}

// TruncateMicros converts a time to UTC and truncates it to the store's precision, a microsecond.
func TruncateMicros(at time.Time) time.Time { return at.UTC().Truncate(time.Microsecond) }

// BoolToInt converts a bool to the store's format: 0 or 1.
func BoolToInt(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
