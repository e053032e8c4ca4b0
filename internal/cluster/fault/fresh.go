package fault

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// knownMost is how long after it is stored a reading may be unknown to clients while
// nothing is broken.
const knownMost = 2 * time.Second

// freshness is whether air went on: all that was given is stored, everybody got newer
// air after each fault, and soon after it was stored.
func (r *Run) freshness(ctx context.Context) ([]verdict, error) {
	missing, given, err := r.feed.Missing(ctx, 2*airMost)
	if err != nil {
		return nil, err
	}
	return []verdict{
		{"files of readings not stored", fmt.Sprintf("%d of %d", missing, given), "0", missing == 0 && given > 0},
		aired(r.rows),
		known(r.delays(r.quiet)),
	}, nil
}

// aired is whether everybody got air from after the end of each fault, in time.
func aired(rows []row) verdict {
	what, must := "air goes on after every fault", fmt.Sprintf("at most %.0f s", airMost.Seconds())
	var longest row
	for _, d := range rows {
		if d.stale {
			return verdict{what, "not after " + d.Name, must, false}
		}
		if d.aired > longest.aired {
			longest = d
		}
	}
	return verdict{what, fmt.Sprintf("%.1f s (%s)", longest.aired.Seconds(), longest.Name), must, longest.aired <= airMost}
}

// quiet is whether nothing was broken at a moment.
func (r *Run) quiet(at time.Time) bool {
	for _, d := range r.rows {
		if d.Do != nil && at.After(d.from) && at.Before(d.mended.Add(d.recovered)) {
			return false
		}
	}
	return true
}

// delays is how long after ClickHouse began to store them readings were known to
// everybody, sorted, of those that were stored and known at some moments.
func (r *Run) delays(when func(time.Time) bool) (all []time.Duration) {
	for _, l := range r.air.Learnt() {
		if began, ok := r.feed.Stored(l.At); ok && when(began) && when(l.Known) {
			all = append(all, l.Known.Sub(began))
		}
	}
	slices.Sort(all)
	return all
}

// known is whether stored readings were known soon enough.
func known(delays []time.Duration) verdict {
	is, must := "nobody knows", fmt.Sprintf("95 %% within %.0f s", knownMost.Seconds())
	if len(delays) == 0 {
		return verdict{"stored readings are known, nothing broken", is, must, false}
	}
	half, most := percentile(delays, 50), percentile(delays, 95)
	is = fmt.Sprintf("p50 %.2f s, p95 %.2f s of %d", half.Seconds(), most.Seconds(), len(delays))
	return verdict{"stored readings are known, nothing broken", is, must, most <= knownMost}
}

// percentile is the least of sorted durations that so many of a hundred do not exceed.
func percentile(sorted []time.Duration, of int) time.Duration {
	return sorted[(len(sorted)*of+99)/100-1]
}
