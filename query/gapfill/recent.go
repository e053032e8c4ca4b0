package gapfill

import (
	"context"
	"slices"

	"vayu/query/aggregate"
	"vayu/schema"
)

// Recent has, for each station and pollutant, the latest concentration that was measured up to a given hour. It is
// immutable.
type Recent struct {
	at      uint32               // the hour, Unix seconds
	amounts []LastConcentrations // by station
}

// ReadRecent returns the last amounts, up to the hour `at`, of the stations with the given ids. For unchanged
// stations it copies the amounts from `before`, the previous result. It reads all stations if `before` is nil, if the
// places changed, or if `at` is earlier than the hour of `before`.
func ReadRecent(
	ctx context.Context, t aggregate.Tables, before *Recent, at uint32, ids []string, c *aggregate.Changes,
) (*Recent, error) {
	first := max(at, FillWindow) - FillWindow + 1
	if before == nil || !c.SamePlaces || at < before.at {
		got, err := ReadWhere(ctx, t, "", []uint32{at}, first, t.Each)
		if err != nil {
			return nil, err
		}
		r := &Recent{at, make([]LastConcentrations, len(ids))}
		for i, id := range ids {
			r.amounts[i] = single(got[id])
		}
		return r, nil
	}
	if !slices.Contains(c.Changed, true) {
		return &Recent{at, before.amounts}, nil
	}
	since := max(c.Since, first)
	got, err := ReadWhere(ctx, t, c.Condition, []uint32{at}, since, t.Each)
	if err != nil {
		return nil, err
	}
	r := &Recent{at, slices.Clone(before.amounts)}
	var again []string // stations of which an amount at or after `since` is no longer in the table
	var lost []int
	for i, id := range ids {
		if !c.Changed[i] {
			continue
		}
		last := single(got[id])
		if !r.amounts[i].update(&last, since) {
			again, lost = append(again, id), append(lost, i)
		}
	}
	if len(again) == 0 {
		return r, nil
	}
	if got, err = Read(ctx, t, again, []uint32{at}); err != nil {
		return nil, err
	}
	for n, i := range lost {
		r.amounts[i] = single(got[again[n]])
	}
	return r, nil
}

// At returns the last amounts that station number i measured in the 24 h before the hour of r. It returns false if r is
// nil. It also returns false if the time `at` is after the hour of r, or more than 3 h before it.
func (r *Recent) At(i int32, at uint32) (*[aggregate.Records]schema.Figure, bool) {
	if r == nil || at > r.at || at+aggregate.InterpolationWindow < r.at {
		return nil, false
	}
	last := &r.amounts[i]
	if slices.Min(last.at[:])+FillWindow > r.at {
		return &last.Concentrations, true
	}
	within := aggregate.NoFigures().Concentrations
	for p := range within {
		if last.at[p]+FillWindow > r.at {
			within[p] = last.Concentrations[p]
		}
	}
	return &within, true
}

// single returns a station's amounts in the result of a query for one moment. A station without rows has no amounts.
func single(of []LastConcentrations) LastConcentrations {
	if len(of) == 0 {
		return noConcentrations()
	}
	return of[0]
}

// update copies the amounts in `last`, which were measured at or after `since`, to l. It returns false if l has an
// amount from that time that `last` lacks. The table has lost that amount, so the station must be read again.
func (l *LastConcentrations) update(last *LastConcentrations, since uint32) bool {
	for p := range l.at {
		switch {
		case last.at[p] > 0:
			l.at[p], l.Concentrations[p] = last.at[p], last.Concentrations[p]
		case l.at[p] >= since:
			return false
		}
	}
	return true
}
