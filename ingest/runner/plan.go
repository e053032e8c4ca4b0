package runner

import (
	"time"

	"vayu/ingest"
)

// fetchPlan determines the windows that a feed still has to fetch. It does not read the
// clock, but gets times as arguments.
//
// Live windows come first, so that current answers exist within seconds. A new source with history
// starts with the last 36 hours, or with Step if that is less, and then goes back in slices of Step. After a restart the plan
// continues with the stored progress. Without it the plan is derived from the stored readings. Slices are fetched in
// a fixed order, so only the oldest and the newest can be incomplete. These two are fetched again.
type fetchPlan struct {
	feed      Feed
	watermark time.Time // end of the fetched range
	oldest    time.Time // start of the fetched range
	horizon   time.Time // start of the wanted range
	target    time.Time // end of an interrupted live run of partitions; zero for none
}

// newFetchPlan plans a feed. The parameters first and last are the times of its first
// and last stored reading since now - History - Step, and zero without a reading.
func newFetchPlan(feed Feed, first, last, now time.Time) fetchPlan {
	p := fetchPlan{feed: feed, horizon: now.Add(-feed.History)}
	switch {
	case feed.History == 0:
		p.watermark, p.oldest = last, p.horizon
	case last.IsZero():
		p.oldest = later(now.Add(-feed.liveStep()), p.horizon)
	default:
		// The run that stored the first or last reading may be incomplete.
		p.watermark = later(last.Add(-recentSlice), p.horizon)
		p.oldest = p.horizon
		if first.After(p.horizon.Add(-feed.BackfillStep())) {
			p.oldest = earlier(first.Add(feed.BackfillStep()), p.watermark)
		}
	}
	return p
}

// restore continues with the stored progress of a feed.
func (p *fetchPlan) restore(stored ingest.Progress) {
	p.target = stored.Target
	if !stored.Watermark.IsZero() {
		p.watermark = stored.Watermark
	}
	if p.feed.History > 0 && !stored.Oldest.IsZero() {
		p.oldest = stored.Oldest
	}
}

// liveWindow returns the window from Lookback before the watermark to now. Without a watermark, it
// starts Lookback before now, or at p.oldest if the source has history. With history it ends at
// most liveStep after the watermark, so that gaps are filled in order. An interrupted run of
// partitions gets its window again. A watermark in the future counts as now.
func (p *fetchPlan) liveWindow(now time.Time) ingest.Window {
	watermark := earlier(p.watermark, now)
	if p.target.After(watermark) {
		now = earlier(p.target, now)
	}
	switch {
	case watermark.IsZero() && p.feed.History > 0:
		return ingest.Window{From: p.oldest, To: now}
	case watermark.IsZero():
		return ingest.Window{From: now.Add(-p.feed.Lookback), To: now}
	}
	w := ingest.Window{From: watermark.Add(-p.feed.Lookback), To: now}
	if p.feed.History > 0 && w.To.Sub(watermark) > p.feed.liveStep() {
		w.To = watermark.Add(p.feed.liveStep())
	}
	return w
}

// backfillWindow returns the next window of the backfill, and false after the last.
func (p *fetchPlan) backfillWindow() (ingest.Window, bool) {
	if p.feed.History == 0 || !p.oldest.After(p.horizon) {
		return ingest.Window{}, false
	}
	return ingest.Window{From: later(p.oldest.Add(-p.feed.BackfillStep()), p.horizon), To: p.oldest}, true
}

// fetched extends the fetched range by a window that is stored.
func (p *fetchPlan) fetched(w ingest.Window, kind runKind) {
	if kind == liveRun {
		p.watermark, p.target = w.To, time.Time{}
	}
	if w.From.Before(p.oldest) && !w.To.Before(p.oldest) {
		p.oldest = w.From
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
