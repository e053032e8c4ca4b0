package query

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// buckets is the number of parts into which a hash of the id divides the stations.
// With 100,000 stations a bucket has 24, so 100 changed stations cause 2,400 rows
// to be read.
const buckets = 4096

// digest holds a checksum of the rows of each bucket of a table. It differs if a
// row was added, replaced or removed. It may also differ after a merge of parts.
type digest []uint64

// markDiffering marks the buckets in which two digests differ. A nil digest differs
// in all.
func markDiffering(a, b digest, changed []bool) {
	for i := range changed {
		changed[i] = changed[i] || a == nil || b == nil || a[i] != b[i]
	}
}

// hashCondition returns the SQL condition that a column's hash is in a marked
// bucket, "" for all. It returns false if none is marked.
func hashCondition(column string, changed []bool) (condition string, some bool) {
	var list []string
	for i, yes := range changed {
		if yes {
			list = append(list, strconv.Itoa(i))
		}
	}
	switch len(list) {
	case 0:
		return "", false
	case len(changed):
		return "", true
	}
	return fmt.Sprintf("cityHash64(%s) %% %d IN (%s)", column, buckets, strings.Join(list, ", ")), true
}

// stationDigest reads the digest of the stations.
func (t tables) stationDigest(ctx context.Context) (digest, error) {
	out := make(digest, buckets)
	var part uint16
	var sum uint64
	err := t.each(ctx, []any{&part, &sum}, func() { out[part] = sum },
		fmt.Sprintf("SELECT toUInt16(cityHash64(id) %% %d) AS part, sum(cityHash64(*)) FROM %s.station GROUP BY part", buckets, t.database))
	if err != nil {
		return nil, fmt.Errorf("reading the digest of stations: %w", err)
	}
	return out, nil
}

// hourDigests reads the digests of the hours at or after since.
func (t tables) hourDigests(ctx context.Context, since uint32) (map[uint32]digest, error) {
	out := map[uint32]digest{}
	var at uint32
	var part uint16
	var sum uint64
	err := t.each(ctx, []any{&at, &part, &sum}, func() {
		if out[at] == nil {
			out[at] = make(digest, buckets)
		}
		out[at][part] = sum
	}, fmt.Sprintf(`SELECT toUInt32(at), toUInt16(cityHash64(station) %% %d) AS part, sum(cityHash64(station, computed_at))
			FROM %s.station_hour WHERE at >= toDateTime({since:UInt32}, 'UTC') GROUP BY at, part`, buckets, t.database),
		number("since", since))
	if err != nil {
		return nil, fmt.Errorf("reading digests of station hours: %w", err)
	}
	return out, nil
}
