package journal

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/ingest"
)

// Rejected describes the runs of a source that rejected values.
type Rejected struct {
	Runs   uint64
	Window ingest.Window     // from the earliest start to the latest end of their windows
	Values ingest.Rejections // number of rejected values, by reason
}

// Rejected describes the runs of a source that rejected values for one of the given reasons. A run counts if its window
// overlaps `within`. If `reasons` is empty, every reason counts except [ingest.MissingValue]. Imports and runs without
// a window do not count. If `within` has no end, it ends at the present time. The returned window lies inside `within`.
func (j *Journal) Rejected(ctx context.Context, source string, within ingest.Window, reasons []string) (found Rejected, err error) {
	if within.To.IsZero() {
		within.To = time.Now()
	}
	wanted := "reason != {missing:String}"
	if len(reasons) > 0 {
		wanted = "has(splitByChar(',', {reasons:String}), reason)"
	}
	parameters := clickhouse.Parameters{
		"source": source, "world": strconv.Itoa(int(j.world)), "missing": string(ingest.MissingValue), "reasons": strings.Join(reasons, ","),
		"from": strconv.FormatInt(within.From.Unix(), 10), "to": strconv.FormatInt(within.To.Unix(), 10),
	}
	var values map[string]uint64
	var from, to int64
	err = j.conn.QueryRow(clickhouse.Context(ctx, clickhouse.WithParameters(parameters)), fmt.Sprintf(`
		SELECT count(), toInt64(min(window_from)), toInt64(max(window_to)), sumMap(counted) FROM (
			SELECT window_from, window_to, mapFilter((reason, n) -> %s, rejected) AS counted FROM %s.source_run FINAL
			WHERE source = {source:String} AND world = {world:Int8} AND kind != 'import'
				AND window_from > toDateTime(0) AND toInt64(window_from) < {to:Int64} AND toInt64(window_to) >= {from:Int64}
		) WHERE notEmpty(counted)`, wanted, j.database)).Scan(&found.Runs, &from, &to, &values)
	if err != nil {
		return found, fmt.Errorf("reading the rejected values of source %q: %w", source, err)
	}
	if found.Runs == 0 {
		return found, nil
	}
	// The table stores whole seconds, so the end is rounded up to the next second.
	found.Window = ingest.Window{From: time.Unix(max(from, within.From.Unix()), 0).UTC(), To: time.Unix(min(to+1, within.To.Unix()), 0).UTC()}
	found.Values = make(ingest.Rejections, len(values))
	for reason, n := range values {
		found.Values.Add(ingest.Reason(reason), int(n))
	}
	return found, nil
}
