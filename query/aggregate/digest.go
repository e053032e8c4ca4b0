package aggregate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Buckets is the number of groups into which stations are divided by a hash of their id. With 100,000 stations, a
// bucket has 24 stations on average. If 100 stations change, the rows of 2,400 stations are read again.
const Buckets = 4096

// Digest has a checksum for each bucket: that of the bucket's rows in a table. The checksum changes if a row is
// added, replaced or removed. It may also change when ClickHouse merges parts of the table.
type Digest []uint64

// MarkDiffering sets the elements of `changed` for the buckets in which two digests differ. A nil
// digest differs in all buckets.
func MarkDiffering(a, b Digest, changed []bool) {
	for i := range changed {
		changed[i] = changed[i] || a == nil || b == nil || a[i] != b[i]
	}
}

// HashCondition returns the SQL condition that selects rows by their `column`: its hash must be in a bucket that
// `changed` marks. The condition is "" if all buckets are marked. The result `some` is false if no bucket is marked.
func HashCondition(column string, changed []bool) (condition string, some bool) {
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
	return fmt.Sprintf("cityHash64(%s) %% %d IN (%s)", column, Buckets, strings.Join(list, ", ")), true
}

// Digests has the digests of the rows from which a snapshot was built, by table and hour.
type Digests struct {
	Stations Digest
	Hours    map[uint32]Digest // digests of the table station_hour, by hour
	Cities   map[uint32]uint64 // checksums of the table city_hour, by hour
}

// digestReach limits the comparison by digest to hours that are at most this many seconds older than the newest hour
// of the previous snapshot. After a roll-up of older hours, the snapshot reads the hours of all stations.
const digestReach = 5 * 24 * 3600

// ReadDigests reads into d the digests of the hours at or after the time `since`, the earliest hour of a roll-up. It
// copies those of earlier hours from `old`, the digests of the previous snapshot, whose newest hour is `newest`. It
// returns which buckets of stations have a changed hour, and whether `old` and d are equal. If `old` is nil, or `since`
// is more than digestReach before `newest`, it reads nothing and marks all buckets.
func (t Tables) ReadDigests(ctx context.Context, d, old *Digests, newest, since uint32) (changed []bool, same bool, err error) {
	changed = make([]bool, Buckets)
	if old == nil || since+digestReach < newest {
		MarkDiffering(nil, nil, changed)
		return changed, false, nil
	}
	if d.Hours, err = t.HourDigests(ctx, since); err != nil {
		return nil, false, err
	}
	if d.Cities, err = t.CityDigests(ctx, since); err != nil {
		return nil, false, err
	}
	for at := range d.Hours {
		MarkDiffering(old.Hours[at], d.Hours[at], changed)
		newest = max(newest, at)
	}
	for at, of := range old.Hours {
		switch {
		case at >= since && d.Hours[at] == nil: // the whole hour was removed
			MarkDiffering(of, make(Digest, Buckets), changed)
		case at < since && at+digestReach >= newest:
			d.Hours[at] = of
		}
	}
	same = old.Hours != nil && slices.Equal(d.Stations, old.Stations) && !slices.Contains(changed, true)
	for at, sum := range d.Cities {
		same = same && old.Cities[at] == sum
	}
	for at, sum := range old.Cities {
		switch {
		case at >= since:
			same = same && d.Cities[at] == sum
		case at+digestReach >= newest:
			d.Cities[at] = sum
		}
	}
	return changed, same, nil
}

// StationDigest reads the digest of the table of stations.
func (t Tables) StationDigest(ctx context.Context) (Digest, error) {
	out := make(Digest, Buckets)
	var part uint16
	var sum uint64
	err := t.Each(ctx, []any{&part, &sum}, func() { out[part] = sum },
		fmt.Sprintf("SELECT toUInt16(cityHash64(id) %% %d) AS part, sum(cityHash64(*)) FROM %s.station GROUP BY part", Buckets, t.Database))
	if err != nil {
		return nil, fmt.Errorf("reading the digest of stations: %w", err)
	}
	return out, nil
}

// HourDigests reads a digest of the rows of station_hour for each hour at or after `since` (Unix seconds). It omits
// stations that are not in the table `station`, because their account has not published them. In a cluster the two
// tables are distributed by different keys, so IN must be GLOBAL.
func (t Tables) HourDigests(ctx context.Context, since uint32) (map[uint32]Digest, error) {
	out := map[uint32]Digest{}
	var at uint32
	var part uint16
	var sum uint64
	err := t.Each(ctx, []any{&at, &part, &sum}, func() {
		if out[at] == nil {
			out[at] = make(Digest, Buckets)
		}
		out[at][part] = sum
	}, fmt.Sprintf(`SELECT toUInt32(at), toUInt16(cityHash64(station) %% %d) AS part, sum(cityHash64(station, computed_at))
			FROM %s.station_hour WHERE at >= toDateTime({since:UInt32}, 'UTC') AND station GLOBAL IN (SELECT id FROM %[2]s.station) GROUP BY at, part`, Buckets, t.Database),
		Number("since", since))
	if err != nil {
		return nil, fmt.Errorf("reading digests of station hours: %w", err)
	}
	return out, nil
}

// CityDigests reads a checksum of all cities' rows for each hour at or after `since`. See [Digest] for when it changes.
func (t Tables) CityDigests(ctx context.Context, since uint32) (map[uint32]uint64, error) {
	out := map[uint32]uint64{}
	var at uint32
	var sum uint64
	err := t.Each(ctx, []any{&at, &sum}, func() { out[at] = sum },
		t.SQL(`SELECT toUInt32(at), sum(cityHash64(city, state, computed_at)) FROM %s.city_hour WHERE at >= toDateTime({since:UInt32}, 'UTC') GROUP BY at`),
		Number("since", since))
	if err != nil {
		return nil, fmt.Errorf("reading digests of city hours: %w", err)
	}
	return out, nil
}
