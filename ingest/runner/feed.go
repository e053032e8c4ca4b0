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
	// Step is the range that one backfill run fetches. It limits scheduled runs, too. Default 7 days.
	Step time.Duration
	// Windows means that the source fetches any past window, and not only its newest readings.
	Windows bool
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

// key identifies the feed in the store of progress.
func (f Feed) key() string { return f.Name }

// BackfillStep returns Step or its default.
func (f Feed) BackfillStep() time.Duration {
	if f.Step <= 0 {
		return backfillSlice
	}
	return f.Step
}

// liveStep limits a scheduled run of a source with history, beside Lookback.
func (f Feed) liveStep() time.Duration { return min(recentSlice, f.BackfillStep()) }

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
