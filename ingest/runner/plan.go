package runner

import (
	"time"

	"vayu/ingest"
)

// fetchPlan determines the next windows of a feed. It does not read the clock; times are arguments.
//
// The window with the newest readings (the live window) comes first, so that current answers exist within seconds. A
// new source with history first fetches the last 36 hours, or Step if that is shorter. Then it fetches older readings
// in windows of Step, backwards. After a restart the plan continues with the stored progress. If no progress is stored,
// the plan derives it from the stored readings. Windows are fetched in a fixed order, so only the oldest and the newest
// can be incomplete. The plan fetches these two again.
type fetchPlan struct {
	feed      Feed
	watermark time.Time // end of the fetched range
	oldest    time.Time // start of the fetched range
	horizon   time.Time // start of the wanted range
	target    time.Time // end of the window of an interrupted live run of partitions; zero for none
}

// newFetchPlan plans a feed. `first` and `last` are the times of the first and last stored readings after
// now - History - Step, or zero if there are none.
func newFetchPlan(feed Feed, first, last, now time.Time) fetchPlan {
	p := fetchPlan{feed: feed, horizon: now.Add(-feed.History)}
	switch {
	case feed.History == 0:
		p.watermark, p.oldest = last, p.horizon
	case last.IsZero():
		p.oldest = later(now.Add(-feed.liveStep()), p.horizon)
	default:
		// The runs that stored the first and the last reading may be incomplete, so their windows are fetched again.
		p.watermark = later(last.Add(-recentSlice), p.horizon)
		p.oldest = p.horizon
		if first.After(p.horizon.Add(-feed.BackfillStep())) {
			p.oldest = earlier(first.Add(feed.BackfillStep()), p.watermark)
		}
	}
	return p
}

// restore sets the plan to the stored progress of a feed.
func (p *fetchPlan) restore(stored ingest.Progress) {
	p.target = stored.Target
	if !stored.Watermark.IsZero() {
		p.watermark = stored.Watermark
	}
	if p.feed.History > 0 && !stored.Oldest.IsZero() {
		p.oldest = stored.Oldest
	}
}

// liveWindow returns the window from Lookback before the watermark to now. Without a watermark, the window starts at
// p.oldest if the source has history, and Lookback before now if not. For a source with history, the window ends at
// most liveStep after the watermark, so that gaps are filled in order. After an interrupted run of partitions, the
// window ends where the window of that run ended. A watermark in the future counts as now.
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

// backfillWindow returns the next window of the backfill, and false if no window is left.
func (p *fetchPlan) backfillWindow() (ingest.Window, bool) {
	if p.feed.History == 0 || !p.oldest.After(p.horizon) {
		return ingest.Window{}, false
	}
	return ingest.Window{From: later(p.oldest.Add(-p.feed.BackfillStep()), p.horizon), To: p.oldest}, true
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
