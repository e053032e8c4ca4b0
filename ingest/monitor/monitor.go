// Package monitor watches the sources of readings. From the runs of a source it detects failures, silence, low
// coverage, changed fields and units, and clocks that are ahead. It stores the problems in the state store, and events
// announce them to operators.
package monitor

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/schema"
	"vayu/schema/air"
)

// interval is the time between two checks of the sources.
const interval = time.Minute

// Events appends events to the outbox, in the transaction of the change that caused them.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Operators returns the accounts of operators: those with an active key of the given world that has the scope
// sources:read.
type Operators func(tx *sqlstore.Tx, world schema.World, now time.Time) ([]string, error)

// Config configures a Monitor.
type Config struct {
	Conn     driver.Conn
	Database string // database with the runs, normally schema.OpsDatabase
	World    schema.World
	Store    *Store
	Events   Events
	Accounts Operators
	// Limits has the limits of the collected sources of the world, by name. The monitor ignores other sources.
	Limits  map[string]Limits
	Metrics *Metrics
	Log     *slog.Logger
	Now     func() time.Time
}

// Monitor checks the sources of one world.
type Monitor struct {
	Config

	tables   *tables
	counters map[key]*counter
	failures *failurelog.Log
}

// New returns a monitor.
func New(c Config) *Monitor {
	return &Monitor{
		Config: c, counters: make(map[key]*counter), tables: &tables{c.Conn, c.Database, c.World.String()},
		failures: failurelog.New(c.Log, "monitor of sources: a store", "checking the sources", "the metrics keep the last result", c.Metrics.failures),
	}
}

// Run checks the sources every minute until ctx ends. Only the leader may call Run, so that each event is appended
// once.
func (m *Monitor) Run(ctx context.Context) error {
	defer m.Metrics.reset(m.World, m.Limits)
	for {
		m.failures.Observe(ctx, m.Check(ctx))
		if !sleep.For(ctx, interval) {
			return nil
		}
	}
}

// Check checks all sources once. A problem begins or ends only after several consecutive checks have found the change.
func (m *Monitor) Check(ctx context.Context) error {
	now := m.Now()
	all, err := m.tables.read(ctx, now)
	if err != nil {
		return err
	}
	present, err := m.Store.Problems(ctx)
	if err != nil {
		return err
	}
	for source := range present { // delete the problems of sources that are no longer collected
		if _, known := m.Limits[source]; !known {
			if err := m.Store.DB.Update(ctx, func(tx *sqlstore.Tx) error { return m.Store.save(tx, source, nil) }); err != nil {
				return err
			}
		}
	}
	for _, source := range slices.Sorted(maps.Keys(m.Limits)) {
		f := all[source]
		if f == nil {
			f = new(facts)
		}
		problems, changed := m.observe(source, f, present[source], now)
		if changed {
			if err := m.change(ctx, source, f, present[source], problems, now); err != nil {
				return err
			}
		}
		_, ratio := f.coverage(m.Limits[source], now)
		m.Metrics.set(source, problems, ratio, len(f.clocks))
	}
	m.Metrics.checked.WithLabelValues(m.World.String()).Set(float64(now.Unix()))
	return nil
}

// observe returns the problems of a source after a check, and whether they differ from the problems before the check.
func (m *Monitor) observe(source string, f *facts, present []Problem, now time.Time) (problems []Problem, changed bool) {
	found := f.detect(m.Limits[source], now)
	for _, problem := range air.Problems {
		k := key{source, problem}
		if m.counters[k] == nil {
			m.counters[k] = new(counter)
		}
		i := slices.IndexFunc(present, func(p Problem) bool { return p.Problem == problem })
		changes := m.counters[k].observe(i >= 0, found[problem])
		switch {
		case i >= 0 && !changes:
			problems = append(problems, present[i])
		case i < 0 && changes:
			problems = append(problems, Problem{problem, now, found[problem].detail})
		}
		changed = changed || changes
	}
	return problems, changed
}

// change stores the problems of a source. In the same transaction it appends an event for each account of an operator:
// source.degraded if a problem begins, source.recovered if the last problem ends.
func (m *Monitor) change(ctx context.Context, source string, f *facts, before, after []Problem, now time.Time) error {
	event, data := m.event(source, f, before, after, now)
	err := m.Store.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		if err := m.Store.save(tx, source, after); err != nil || event == "" {
			return err
		}
		accounts, err := m.Accounts(tx, m.World, now)
		if err != nil {
			return err
		}
		for _, account := range accounts {
			if _, err := m.Events.Append(tx, account, m.World, event, data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("storing the problems of source %q: %w", source, err)
	}
	for _, p := range after {
		if !slices.ContainsFunc(before, func(b Problem) bool { return b.Problem == p.Problem }) {
			m.Log.WarnContext(ctx, "a source has a problem", "source", source, "problem", p.Problem, "detail", p.Detail)
		}
	}
	if len(after) == 0 {
		m.Log.InfoContext(ctx, "a source has no problem any more", "source", source)
	}
	return nil
}

// event returns the type and the data of the event of a change. The type is "" if no problem began and at least one
// problem remains.
func (m *Monitor) event(source string, f *facts, before, after []Problem, now time.Time) (schema.EventType, any) {
	text := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	since := func(all []Problem) string {
		return text(slices.MinFunc(all, func(a, b Problem) int { return a.Since.Compare(b.Since) }).Since)
	}
	if len(after) == 0 {
		data := air.SourceRecovered{Source: source, DegradedAt: since(before), RecoveredAt: text(now)}
		for _, p := range before {
			data.Problems = append(data.Problems, p.Problem)
		}
		return schema.EventSourceRecovered, data
	}
	data := air.SourceDegraded{Source: source, DegradedAt: since(after)}
	added := false
	for _, p := range after {
		added = added || !slices.ContainsFunc(before, func(b Problem) bool { return b.Problem == p.Problem })
		data.Problems = append(data.Problems, p.wire())
	}
	if !added {
		return "", nil
	}
	if !f.newest.IsZero() {
		newest := text(f.newest)
		data.Newest = &newest
	}
	return schema.EventSourceDegraded, data
}
