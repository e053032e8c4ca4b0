package chaos

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	// maxKnown limits the time from storing results to all clients seeing them, without a fault.
	maxKnown = 2 * time.Second
	// maxStored is the same limit for readings. Their results are first computed by a roll-up, which takes
	// half a second, and longer on a busy machine.
	maxStored = 10 * time.Second
)

// freshness checks that air data kept flowing. All provided readings are stored. All clients got
// newer air after each fault, and soon after it was stored.
func (r *Run) freshness(ctx context.Context) ([]check, error) {
	missing, given, err := r.feed.Missing(ctx, 2*maxAir)
	if err != nil {
		return nil, err
	}
	readings, figures := r.delays(r.quiet)
	return []check{
		{"files of readings not stored", fmt.Sprintf("%d of %d", missing, given), "0", missing == 0 && given > 0},
		aired(r.rows),
		known("stored readings are known, nothing broken", readings, maxStored),
		known("stored figures are known, nothing broken", figures, maxKnown),
	}, nil
}

// aired checks that all clients got air newer than each fault, in time.
func aired(rows []row) check {
	what, must := "air goes on after every fault", fmt.Sprintf("at most %.0f s", maxAir.Seconds())
	var longest row
	for _, d := range rows {
		if d.stale {
			return check{what, "not after " + d.Name, must, false}
		}
		if d.aired > longest.aired {
			longest = d
		}
	}
	return check{what, fmt.Sprintf("%.1f s (%s)", longest.aired.Seconds(), longest.Name), must, longest.aired <= maxAir}
}

// quiet reports whether no fault was active at a moment.
func (r *Run) quiet(at time.Time) bool {
	for _, d := range r.rows {
		if d.Do != nil && at.After(d.from) && at.Before(d.faultEnded.Add(d.recovered)) {
			return false
		}
	}
	return true
}

// delays returns the times from storing readings, and from their roll-up, until all clients saw
// them. Both are sorted, and limited to the moments that when selects.
func (r *Run) delays(when func(time.Time) bool) (readings, figures []time.Duration) {
	for _, l := range r.air.Updates() {
		s, ok := r.feed.Stored(l.At)
		if !ok || !when(s.Began) || !when(l.SeenByAll) {
			continue
		}
		readings = append(readings, l.SeenByAll.Sub(s.Began))
		if !s.RolledUp.IsZero() {
			figures = append(figures, l.SeenByAll.Sub(s.RolledUp))
		}
	}
	slices.Sort(readings)
	slices.Sort(figures)
	return readings, figures
}

// known checks that clients saw results soon enough.
func known(what string, delays []time.Duration, limit time.Duration) check {
	is, must := "unknown", fmt.Sprintf("95 %% within %.0f s", limit.Seconds())
	if len(delays) == 0 {
		return check{what, is, must, false}
	}
	p50, p95 := percentile(delays, 50), percentile(delays, 95)
	is = fmt.Sprintf("p50 %.2f s, p95 %.2f s of %d", p50.Seconds(), p95.Seconds(), len(delays))
	return check{what, is, must, p95 <= limit}
}

// percentile returns the smallest of sorted durations that at least the given percentage of them does not
// exceed.
func percentile(sorted []time.Duration, of int) time.Duration {
	return sorted[(len(sorted)*of+99)/100-1]
}
