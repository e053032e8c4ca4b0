package runner

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"vayu/ingest"
)

// Feed is a source with its schedule. Zero durations take the defaults given
// below.
type Feed struct {
	// Name is the source's name: the column `source` and the label of metrics.
	Name string
	// Source fetches the readings.
	Source ingest.Source
	// ConfigSHA256 identifies the source's configuration in the journal: SHA-256, hexadecimal.
	ConfigSHA256 string
	// Schedule has five cron fields in Indian time ("5 * * * *"), or "@every 10m".
	// Default "@hourly". The first run starts at once.
	Schedule string
	// Jitter is the upper bound of a random delay of each scheduled run. It
	// spreads the load on a public server. Default none.
	Jitter time.Duration
	// Timeout bounds one fetch. Default 10 minutes.
	Timeout time.Duration
	// Lookback is how much of the previous window is fetched again, for late data.
	// Default 3 hours.
	Lookback time.Duration
	// History is how far back the first backfill goes; 0 for a source without history.
	History time.Duration
	// Step is the range that one backfill run fetches. Default 7 days.
	Step time.Duration
	// MaxSilence is the largest normal age of the newest reading. Default 6 hours, or
	// three intervals of the schedule if these are longer. Negative for a source without
	// a rhythm, such as a folder.
	MaxSilence time.Duration
}

const (
	defaultSchedule = "@hourly"
	defaultTimeout  = 10 * time.Minute
	defaultOverlap  = 3 * time.Hour
	// defaultMaxSilence covers networks that publish an hour two or three hours late.
	defaultMaxSilence = 6 * time.Hour
	// recentSlice is the range that a new source with history fetches first. Current
	// answers need 24 hours; 12 more give a trend.
	recentSlice = 36 * time.Hour
	// backfillSlice is the default range of a backfill run. An interrupted backfill
	// repeats at most one slice.
	backfillSlice = 7 * 24 * time.Hour
)

// step returns Step or its default.
func (f Feed) step() time.Duration {
	if f.Step <= 0 {
		return backfillSlice
	}
	return f.Step
}

// prepare checks the feed and fills in Schedule, Timeout and Lookback.
func (f Feed) prepare() (Feed, cron.Schedule, error) {
	if f.Name == "" || f.Source == nil {
		return f, nil, fmt.Errorf("feed %q: a feed needs a name and a source", f.Name)
	}
	if f.Schedule == "" {
		f.Schedule = defaultSchedule
	}
	if f.Timeout <= 0 {
		f.Timeout = defaultTimeout
	}
	if f.Lookback <= 0 {
		f.Lookback = defaultOverlap
	}
	schedule, err := cron.ParseStandard(f.Schedule)
	if err != nil {
		return f, nil, fmt.Errorf("feed %q: reading the schedule %q: %w", f.Name, f.Schedule, err)
	}
	return f, schedule, nil
}

// fetchPlan determines the windows that a feed still has to fetch. It does not read the
// clock, but gets times as arguments.
//
// Live windows come first, so that current answers exist within seconds. A new source with history
// starts with the last 36 hours and then goes back in slices of Step. After a restart the plan is
// derived from the stored readings. Slices are fetched in a fixed order, so only the oldest and the
// newest can be incomplete. These two are fetched again.
type fetchPlan struct {
	feed      Feed
	watermark time.Time // end of the fetched range
	oldest    time.Time // start of the fetched range
	horizon   time.Time // start of the wanted range
}

// newFetchPlan plans a feed. The parameters first and last are the times of its first
// and last stored reading since now - History - Step, and zero without a reading.
func newFetchPlan(feed Feed, first, last, now time.Time) fetchPlan {
	p := fetchPlan{feed: feed, horizon: now.Add(-feed.History)}
	switch {
	case feed.History == 0:
		p.watermark, p.oldest = last, p.horizon
	case last.IsZero():
		p.oldest = later(now.Add(-recentSlice), p.horizon)
	default:
		// The run that stored the first or last reading may be incomplete.
		p.watermark = later(last.Add(-recentSlice), p.horizon)
		p.oldest = p.horizon
		if first.After(p.horizon.Add(-feed.step())) {
			p.oldest = earlier(first.Add(feed.step()), p.watermark)
		}
	}
	return p
}

// liveWindow returns the window from Lookback before the watermark to now. Without a watermark, it
// starts Lookback before now, or at p.oldest if the source has history. With history it ends at
// most recentSlice after the watermark, so that gaps are filled in order.
func (p *fetchPlan) liveWindow(now time.Time) ingest.Window {
	switch {
	case p.watermark.IsZero() && p.feed.History > 0:
		return ingest.Window{From: p.oldest, To: now}
	case p.watermark.IsZero():
		return ingest.Window{From: now.Add(-p.feed.Lookback), To: now}
	}
	w := ingest.Window{From: p.watermark.Add(-p.feed.Lookback), To: now}
	if p.feed.History > 0 && now.Sub(p.watermark) > recentSlice {
		w.To = p.watermark.Add(recentSlice)
	}
	return w
}

// backfillWindow returns the next window of the backfill, and false after the last.
func (p *fetchPlan) backfillWindow() (ingest.Window, bool) {
	if p.feed.History == 0 || !p.oldest.After(p.horizon) {
		return ingest.Window{}, false
	}
	return ingest.Window{From: later(p.oldest.Add(-p.feed.step()), p.horizon), To: p.oldest}, true
}

// fetched extends the fetched range by a window that is stored.
func (p *fetchPlan) fetched(w ingest.Window) {
	if w.To.After(p.watermark) {
		p.watermark = w.To
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
