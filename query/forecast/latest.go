package forecast

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/query/aggregate"
)

const (
	// pollInterval is the interval between two polls for a new issue. There is one issue a day.
	pollInterval = 15 * time.Second
	// refreshTimeout limits one call of Refresh, which reads the latest forecasts of days and hours, and their scores.
	refreshTimeout = 2 * time.Minute
)

// Latest holds the latest issue of one world (live or sandbox). Its methods are safe for concurrent use.
type Latest struct {
	tables   aggregate.Tables
	failures *failurelog.Log
	issue    atomic.Pointer[Issue]
	hours    atomic.Pointer[Hours]
	file     string // file of the issue, which the next start restores; "" for none
}

// NewLatest returns a Latest without an issue. Its Refresh reads forecasts from the tables of t. Its file is in the
// folder `directory`; "" means no file. `failed` counts polls that ended with an error. NewLatest reads nothing.
func NewLatest(t aggregate.Tables, world, directory string, log *slog.Logger, failed prometheus.Counter) *Latest {
	l := &Latest{tables: t, failures: failurelog.New(log, "query: ClickHouse", "reading the forecasts of "+world, "the last ones stay published", failed)}
	if directory != "" {
		l.file = filepath.Join(directory, world+".forecasts.json")
	}
	return l
}

// Issue returns the latest issue; nil if there is none yet.
func (l *Latest) Issue() *Issue { return l.issue.Load() }

// Hours returns the latest hourly forecasts; nil if there are none yet.
func (l *Latest) Hours() *Hours { return l.hours.Load() }

// Restore publishes the issue of the last run from its file, if there is one.
func (l *Latest) Restore() error {
	if l.file == "" {
		return nil
	}
	issue, hours, err := read(l.file)
	if err == nil && issue != nil {
		l.issue.Store(issue)
		l.hours.Store(hours)
	}
	return err
}

// Refresh reads the latest forecasts of days and of hours if they are new, and writes both to the file.
func (l *Latest) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	earlier, before := l.issue.Load(), l.hours.Load()
	issue, err := load(ctx, l.tables, earlier)
	if err != nil {
		return err
	}
	l.issue.Store(issue)
	hours, err := loadHours(ctx, l.tables, before)
	if err != nil {
		return err
	}
	l.hours.Store(hours)
	if issue == nil || l.file == "" || issue == earlier && hours == before {
		return nil
	}
	return issue.write(l.file, hours)
}

// Run polls for new issues until ctx ends. It logs when polls begin to fail, and when they succeed again.
func (l *Latest) Run(ctx context.Context) {
	sleep.Repeat(ctx, pollInterval, func(ctx context.Context) { l.failures.Observe(ctx, l.Refresh(ctx)) })
}
