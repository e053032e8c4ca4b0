package fault

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	// knownMost is how long figures may be unknown to clients, once they are stored,
	// while nothing is broken.
	knownMost = 2 * time.Second
	// storedMost is the same for readings: a roll-up comes between, which takes half a
	// second, and longer where processors have other work.
	storedMost = 10 * time.Second
)

// freshness is whether air went on: all that was given is stored, everybody got newer
// air after each fault, and soon after it was stored.
func (r *Run) freshness(ctx context.Context) ([]verdict, error) {
	missing, given, err := r.feed.Missing(ctx, 2*airMost)
	if err != nil {
		return nil, err
	}
	readings, figures := r.delays(r.quiet)
	return []verdict{
		{"files of readings not stored", fmt.Sprintf("%d of %d", missing, given), "0", missing == 0 && given > 0},
		aired(r.rows),
		known("stored readings are known, nothing broken", readings, storedMost),
		known("stored figures are known, nothing broken", figures, knownMost),
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
// everybody, and how long after their roll-up; both sorted, of those that were stored and
// known at some moments.
func (r *Run) delays(when func(time.Time) bool) (readings, figures []time.Duration) {
	for _, l := range r.air.Learnt() {
		s, ok := r.feed.Stored(l.At)
		if !ok || !when(s.Began) || !when(l.Known) {
			continue
		}
		readings = append(readings, l.Known.Sub(s.Began))
		if !s.RolledUp.IsZero() {
			figures = append(figures, l.Known.Sub(s.RolledUp))
		}
	}
	slices.Sort(readings)
	slices.Sort(figures)
	return readings, figures
}

// known is whether something was known soon enough.
func known(what string, delays []time.Duration, limit time.Duration) verdict {
	is, must := "nobody knows", fmt.Sprintf("95 %% within %.0f s", limit.Seconds())
	if len(delays) == 0 {
		return verdict{what, is, must, false}
	}
	half, most := percentile(delays, 50), percentile(delays, 95)
	is = fmt.Sprintf("p50 %.2f s, p95 %.2f s of %d", half.Seconds(), most.Seconds(), len(delays))
	return verdict{what, is, must, most <= limit}
}

// percentile is the least of sorted durations that so many of a hundred do not exceed.
func percentile(sorted []time.Duration, of int) time.Duration {
	return sorted[(len(sorted)*of+99)/100-1]
}
