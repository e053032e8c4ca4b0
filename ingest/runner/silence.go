package runner

import (
	"cmp"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// Silence returns the largest normal age of the newest reading of a feed; negative if readings arrive at irregular
// times. An error means that the schedule is invalid.
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
