package ingest

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// Feed is a source and how it is to be run. Zero durations take the default
// that their comment names.
type Feed struct {
	// Name is the source's name: the column `source` and the label of metrics.
	Name string
	// Source is asked for readings.
	Source Source
	// Schedule is when to ask: five cron fields on an Indian clock
	// ("5 * * * *"), or "@every 10m". Default "@hourly". The first run is at
	// once.
	Schedule string
	// Jitter delays every scheduled run by a random time below it, so that not
	// everybody asks a public server in the same second. Default none.
	Jitter time.Duration
	// Timeout bounds one fetch. Default 10 minutes.
	Timeout time.Duration
	// Overlap is how far each window reaches back into the one before, for
	// readings that the source publishes late. Default 3 hours.
	Overlap time.Duration
	// History is how far back the source is asked at first; 0 for one that
	// only has the present.
	History time.Duration
}

const (
	defaultSchedule = "@hourly"
	defaultTimeout  = 10 * time.Minute
	defaultOverlap  = 3 * time.Hour
	// recentSlice is the first slice of a first fill: a current answer needs the last
	// 24 hours, and 12 more let it have a trend.
	recentSlice = 36 * time.Hour
	// pastSlice is one slice of the rest of a first fill, and the longest stretch
	// that is fetched again when a fill was interrupted.
	pastSlice = 7 * 24 * time.Hour
)

// prepare checks the feed and fills its defaults.
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
	if f.Overlap <= 0 {
		f.Overlap = defaultOverlap
	}
	schedule, err := cron.ParseStandard(f.Schedule)
	if err != nil {
		return f, nil, fmt.Errorf("feed %q: reading the schedule %q: %w", f.Name, f.Schedule, err)
	}
	return f, schedule, nil
}

// agenda is which windows of a feed are still to be fetched. It is pure: times
// are arguments.
//
// The present comes first. On a first fill that is the last 36 hours, and the
// past follows behind it slice by slice, newest first, so that current answers
// exist within seconds. After a stop the agenda is made again from what the
// store holds; because slices are fetched in a fixed order, everything between
// the first and the last stored reading is complete but for the slice at either
// edge, and those are fetched again.
type agenda struct {
	feed      Feed
	watermark time.Time // everything up to here has been fetched, back to edge
	edge      time.Time // the past is fetched back to here
	horizon   time.Time // and is wanted back to here
}

// newAgenda plans a feed from the first and the last reading that the store
// holds of it since now - History - pastSlice; both zero for none.
func newAgenda(feed Feed, first, last, now time.Time) agenda {
	a := agenda{feed: feed, horizon: now.Add(-feed.History)}
	switch {
	case feed.History == 0:
		a.watermark, a.edge = last, a.horizon
	case last.IsZero():
		a.edge = later(now.Add(-recentSlice), a.horizon)
	default:
		// A slice may have been interrupted at either edge.
		a.watermark = later(last.Add(-recentSlice), a.horizon)
		a.edge = a.horizon
		if first.After(a.horizon.Add(-pastSlice)) {
			a.edge = earlier(first.Add(pastSlice), a.watermark)
		}
	}
	return a
}

// present returns the window from the watermark to now, or its first slice
// when that is long: what is missed is caught up in order of time.
func (a *agenda) present(now time.Time) Window {
	switch {
	case a.watermark.IsZero() && a.feed.History > 0:
		return Window{a.edge, now}
	case a.watermark.IsZero():
		return Window{now.Add(-a.feed.Overlap), now}
	}
	w := Window{a.watermark.Add(-a.feed.Overlap), now}
	if a.feed.History > 0 && now.Sub(a.watermark) > recentSlice {
		w.To = a.watermark.Add(recentSlice)
	}
	return w
}

// backlog returns the next slice of the past; false when there is none.
func (a *agenda) backlog() (Window, bool) {
	if a.feed.History == 0 || !a.edge.After(a.horizon) {
		return Window{}, false
	}
	return Window{later(a.edge.Add(-pastSlice), a.horizon), a.edge}, true
}

// fetched notes that a window that present or backlog returned is stored.
func (a *agenda) fetched(w Window) {
	if w.To.After(a.watermark) {
		a.watermark = w.To
	}
	if w.From.Before(a.edge) && !w.To.Before(a.edge) {
		a.edge = w.From
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
