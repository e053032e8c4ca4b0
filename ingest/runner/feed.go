package runner

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/robfig/cron/v3"

	"vayu/ingest"
	"vayu/schema"
)

// Feed is a source with its schedule. A zero duration means the default stated at the field.
type Feed struct {
	// Name is the name of the source, in the column `source` and in the labels of metrics.
	Name string
	// Source fetches the readings.
	Source ingest.Source
	// ConfigSHA256 is the SHA-256 of the source's configuration, hexadecimal. The journal stores it with each run.
	ConfigSHA256 string
	// Schedule has five cron fields in Indian time ("5 * * * *"), or "@every 10m". The default is "@hourly". A feed
	// without stored progress also runs at once.
	Schedule string
	// Jitter is the upper bound of a random delay of each scheduled run. It spreads the load on a public server.
	// By default there is no delay.
	Jitter time.Duration
	// Timeout bounds one fetch. The default is 10 minutes.
	Timeout time.Duration
	// Lookback is the part of the previous window that the next run fetches again, for late data (default 3 hours).
	Lookback time.Duration
	// History is the age of the oldest readings to fetch from a new source. It is 0 for a source without backfill.
	History time.Duration
	// Step is the longest window of one backfill run, and limits the window of a scheduled run (default 7 days).
	Step time.Duration
	// AnyWindow means that the source can fetch any past window. Other sources can fetch only their newest readings.
	AnyWindow bool
	// MaxSilence is the largest normal age of the newest reading. The default is 6 hours, or three intervals of the
	// schedule if these are longer. A negative value means that readings arrive at irregular times, as files do.
	MaxSilence time.Duration
}

const (
	defaultSchedule = "@hourly"
	defaultTimeout  = 10 * time.Minute
	defaultLookback = 3 * time.Hour
	// defaultMaxSilence is long enough for networks that publish an hour two or three hours late.
	defaultMaxSilence = 6 * time.Hour
	// recentSlice is the time range to fetch first from a new source, unless History is 0. Current answers need
	// readings of 24 hours, and 12 hours more show a trend.
	recentSlice = 36 * time.Hour
	// backfillSlice is the default of [Feed.Step]. An interrupted backfill repeats at most one window of this length.
	backfillSlice = 7 * 24 * time.Hour
)

// key identifies the feed in the store of progress.
func (f Feed) key() string { return f.Name }

// BackfillStep returns the field Step; 7 days if it is 0.
func (f Feed) BackfillStep() time.Duration {
	if f.Step <= 0 {
		return backfillSlice
	}
	return f.Step
}

// liveStep is the longest time range of new readings that a scheduled run fetches. Callers use it only if History is
// not 0. The run also fetches the last part of the previous window again (see Lookback).
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
		f.Lookback = defaultLookback
	}
	schedule, err := cron.ParseStandard(f.Schedule)
	if err != nil {
		return f, nil, fmt.Errorf("feed %q: reading the schedule %q: %w", f.Name, f.Schedule, err)
	}
	return f, schedule, nil
}

// next returns the next scheduled time after now, plus a random delay below the jitter.
func (f *feedRun) next(now time.Time) time.Time {
	at := f.schedule.Next(now.In(schema.India))
	if f.Jitter > 0 {
		at = at.Add(rand.N(f.Jitter))
	}
	return at
}

// interval returns the longest time between scheduled runs of the next two weeks. A schedule can omit nights or weekends.
func (f *feedRun) interval(now time.Time) (longest time.Duration) {
	at := f.schedule.Next(now.In(schema.India))
	for end := now.Add(14 * 24 * time.Hour); ; {
		next := f.schedule.Next(at)
		longest = max(longest, next.Sub(at))
		if at = next; at.After(end) {
			return longest
		}
	}
}

// Silence returns the largest normal age of the newest reading of a feed. A negative result means that readings arrive
// at irregular times. The error means that the schedule is invalid.
func (f Feed) Silence(now time.Time) (time.Duration, error) {
	if f.MaxSilence != 0 {
		return f.MaxSilence, nil
	}
	schedule, err := cron.ParseStandard(cmp.Or(f.Schedule, defaultSchedule))
	if err != nil {
		return 0, fmt.Errorf("feed %q: reading the schedule %q: %w", f.Name, f.Schedule, err)
	}
	running := feedRun{schedule: schedule}
	return max(defaultMaxSilence, 3*running.interval(now)), nil
}
