package query

import (
	"context"
	"slices"

	"vayu/schema"
)

// recent holds the last amounts of every station at one hour. It is immutable.
type recent struct {
	at      uint32        // Unix seconds
	amounts []lastAmounts // by station
}

// readRecent returns the last amounts of the stations ids at an hour. It reads those
// that changed since before, which may be nil, and copies the others.
func readRecent(
	ctx context.Context, t tables, before *recent, at uint32, ids []string, c *changes,
) (*recent, error) {
	first := max(at, fillWindow) - fillWindow + 1
	if before == nil || !c.samePlaces || at < before.at {
		got, err := readLastAmountsWhere(ctx, t, "", []uint32{at}, first, t.each)
		if err != nil {
			return nil, err
		}
		r := &recent{at, make([]lastAmounts, len(ids))}
		for i, id := range ids {
			r.amounts[i] = single(got[id])
		}
		return r, nil
	}
	if !slices.Contains(c.changed, true) {
		return &recent{at, before.amounts}, nil
	}
	since := max(c.since, first)
	got, err := readLastAmountsWhere(ctx, t, c.condition, []uint32{at}, since, t.each)
	if err != nil {
		return nil, err
	}
	r := &recent{at, slices.Clone(before.amounts)}
	var again []string // stations that lost an amount at or after since
	var lost []int
	for i, id := range ids {
		if !c.changed[i] {
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
	if got, err = readLastAmounts(ctx, t, again, []uint32{at}); err != nil {
		return nil, err
	}
	for n, i := range lost {
		r.amounts[i] = single(got[again[n]])
	}
	return r, nil
}

// of returns the last amounts of a station in the 24 h before an instant. It returns
// false if r, which may be nil, does not hold them.
func (r *recent) of(i int32, at uint32) (*[records]schema.Figure, bool) {
	if r == nil || at > r.at || at+interpolationWindow < r.at {
		return nil, false
	}
	last := &r.amounts[i]
	if slices.Min(last.at[:])+fillWindow > r.at {
		return &last.amount, true
	}
	within := noFigures().amount
	for p := range within {
		if last.at[p]+fillWindow > r.at {
			within[p] = last.amount[p]
		}
	}
	return &within, true
}

// single returns the amounts of a single moment; a station without rows has none.
func single(of []lastAmounts) lastAmounts {
	if len(of) == 0 {
		return noAmounts()
	}
	return of[0]
}

// update replaces amounts by those of last, which were measured at or after since.
// It returns false if last lacks such an amount that l has.
func (l *lastAmounts) update(last *lastAmounts, since uint32) bool {
	for p := range l.at {
		switch {
		case last.at[p] > 0:
			l.at[p], l.amount[p] = last.at[p], last.amount[p]
		case l.at[p] >= since:
			return false
		}
	}
	return true
}
