package runner

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"vayu/ingest"
)

// Feed is a source with its schedule. A zero duration means the default stated at the field.
type Feed struct {
	// Name is the name of the source, in the column `source` and in the labels of metrics.
	Name string
	// Source fetches the readings.
	Source ingest.Source
	// ConfigSHA256 is the SHA-256 of the source's configuration, hexadecimal. The journal has it with each run.
	ConfigSHA256 string
	// Schedule has five cron fields in Indian time ("5 * * * *"), or "@every 10m".
	// Default "@hourly". The first run starts at once.
	Schedule string
	// Jitter is the upper bound of a random delay of each scheduled run. It
	// spreads the load on a public server. Default none.
	Jitter time.Duration
	// Timeout bounds one fetch. Default 10 minutes.
	Timeout time.Duration
	// Lookback is the part of the previous window that the next run fetches again, for late data. Default 3 hours.
	Lookback time.Duration
	// History is the age of the oldest readings that a new source fetches; 0 for a source without history.
	History time.Duration
	// Step is the longest window of one backfill run, and limits the window of a scheduled run. Default 7 days.
	Step time.Duration
	// Windows means that the source can fetch any past window. Without Windows it can fetch only its newest readings.
	Windows bool
	// MaxSilence is the largest normal age of the newest reading. The default is 6 hours, or three intervals of the
	// schedule if these are longer. Negative means that readings arrive at irregular times, as in a folder of files.
	MaxSilence time.Duration
}

const (
	defaultSchedule = "@hourly"
	defaultTimeout  = 10 * time.Minute
	defaultOverlap  = 3 * time.Hour
	// defaultMaxSilence is long enough for networks that publish an hour two or three hours late.
	defaultMaxSilence = 6 * time.Hour
	// recentSlice is the range that a new source with history fetches first. Current answers need 24 hours, and 12 more
	// show a trend.
	recentSlice = 36 * time.Hour
	// backfillSlice is the default of [Feed.Step]. An interrupted backfill repeats at most one window of this length.
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

// liveStep limits the window of a scheduled run of a source with history, without its Lookback.
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
