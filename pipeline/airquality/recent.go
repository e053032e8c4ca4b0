package airquality

import (
	"context"
	"fmt"
)

// Recent describes the readings that were stored within the last ten minutes. If a later Recent has a larger Newest or
// Count, further readings have become visible since the earlier one.
type Recent struct {
	Newest int64 // when the latest was stored, Unix milliseconds; 0 for none
	Count  uint64
}

// Recent returns the number of recent readings of all sources, and the time at which the latest of them was stored.
func (r *Rollup) Recent(ctx context.Context) (found Recent, err error) {
	rows, err := r.conn.Query(ctx, "SELECT toUnixTimestamp64Milli(max(ingested_at)), count() FROM "+r.tables.Database+`.reading
		WHERE ingested_at > now64(3) - INTERVAL 10 MINUTE`)
	if err != nil {
		return found, fmt.Errorf("looking for new readings: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&found.Newest, &found.Count); err != nil {
			return found, fmt.Errorf("looking for new readings: %w", err)
		}
	}
	return found, rows.Err()
}
