package forecast

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/query/rollup"
)

const (
	// pollInterval is the interval between two polls for a new issue. There is one issue a day.
	pollInterval = 15 * time.Second
	// refreshTimeout limits the time to read an issue with its score over 90 days.
	refreshTimeout = 2 * time.Minute
)

// Latest holds the latest issue of one world (live or sandbox). Its methods are safe for concurrent use.
type Latest struct {
	tables   rollup.Tables
	failures *failurelog.Log
	issue    atomic.Pointer[Issue]
}

// NewLatest returns a Latest without an issue. The counter counts failed polls.
func NewLatest(t rollup.Tables, world string, log *slog.Logger, failed prometheus.Counter) *Latest {
	return &Latest{tables: t, failures: failurelog.New(log, "query: ClickHouse", "reading the forecasts of "+world, "the last ones stay published", failed)}
}

// Issue returns the latest issue; nil if there is none yet.
func (l *Latest) Issue() *Issue { return l.issue.Load() }

// Refresh reads the latest issue, if it is new.
func (l *Latest) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	issue, err := load(ctx, l.tables, l.issue.Load())
	if err == nil {
		l.issue.Store(issue)
	}
	return err
}

// Run polls for new issues until ctx ends. It logs when polls begin to fail, and when they succeed again.
func (l *Latest) Run(ctx context.Context) {
	sleep.Repeat(ctx, pollInterval, func(ctx context.Context) { l.failures.Observe(ctx, l.Refresh(ctx)) })
}
