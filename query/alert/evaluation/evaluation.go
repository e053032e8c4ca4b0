// Package evaluation evaluates all alerts after each publication of current air. Only the leader evaluates.
//
// Alerts are in memory, grouped by place, so that the figures of a place are computed once. Only changes are written to
// the store. The evaluator stores a change in one transaction with its event. It does so only if the stored state still
// has the version from which it computed the change. So an evaluation can be repeated after a crash, and by another
// leader.
package evaluation

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/leader"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/query/aggregate"
	"vayu/query/alert"
	"vayu/schema"
)

const (
	// interval is the time between two calls of Refresh, and of Recheck. A call that finds nothing new is cheap: the
	// air is in memory, and one row of the store counts the changes that accounts have made to alerts.
	interval = 250 * time.Millisecond
	// clockInterval is the time between two evaluations without new air. They are necessary because ages, quiet hours
	// and minimum intervals depend on the time.
	clockInterval = time.Minute
	// recheckInterval is the shortest time between two comparisons of past crossings with corrected hours. A crossing
	// is the hour in which an alert was triggered.
	recheckInterval = 5 * time.Minute
	// recheckPlaces is the maximum number of places that one call of Recheck compares. Each place needs a query.
	recheckPlaces = 10
	purgeInterval = time.Hour
	// catchUpPlaces limits the places of a world whose missed hours one refresh reads. Each place needs a query.
	catchUpPlaces = 20
	// catchUpRetry is the time after which the missed hours of a place are read again after an error.
	catchUpRetry = 10 * time.Second
	// maxLagging is the maximum number of places whose last evaluated hour is stored separately, because it is before
	// the newest hour of the world.
	maxLagging = 1000
	// maxCatchUp is how far back a new leader evaluates hours that no leader has evaluated.
	maxCatchUp = 24 * time.Hour
	// maxRecheck is the age up to which a crossing is compared with its corrected hour. It is limited because a query
	// for the hours of a place returns at most 31 days.
	maxRecheck = 30 * 24 * time.Hour
	hour       = 3600 // seconds
)

// Air has the published air quality of both worlds. Package query implements it. Its methods, and those of Published,
// are called concurrently.
type Air interface {
	// Published returns the published air quality of a world; nil if this process has published none. The values
	// for two publications are unequal, so that a comparison detects a new publication.
	Published(world schema.World) Published
	// Chances returns a function that looks up the latest forecasts of a place at each call; nil for no
	// forecasts.
	Chances(world schema.World, p *alert.Place) alert.Chances
	// Hours returns the hours of a place on the given days, in time order.
	Hours(ctx context.Context, world schema.World, p *alert.Place, from, to schema.Day) ([]aggregate.Figures, error)
}

// Published is the current air of a world, as of one publication. Its dynamic type must be comparable.
type Published interface {
	// Publication returns the publication to which the air belongs.
	Publication() aggregate.Publication
	// Newest returns the newest current hour of any place, in Unix seconds.
	Newest() uint32
	// Figures returns the current figures of a place; false if there are none.
	Figures(p *alert.Place) (aggregate.Figures, bool)
}

// Config configures an Evaluator. All fields but Log, Metrics and Now are required.
type Config struct {
	DB      *sqlstore.DB
	Air     Air
	Events  alert.Events
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil is time.Now
}

// Evaluator evaluates the alerts of both worlds. Its methods are safe for concurrent use.
type Evaluator struct {
	Config

	metrics  *metrics
	failures *failurelog.Log
	rechecks *failurelog.Log

	mu       sync.Mutex // guards the following fields, and the worlds; not held while hours are read for Recheck
	loaded   bool
	revision int64
	alerts   map[string]*alert.Alert
	lost     []string // ids of alerts that another instance or the account changed during an evaluation
	worlds   [len(schema.Worlds)]*world
	clockAt  time.Time // next evaluation without new air
	purgeAt  time.Time
}

// world has the places of the alerts of one world (live or sandbox).
type world struct {
	world     schema.World
	places    map[string]*place
	published Published // evaluated last; nil for none
	pending   bool      // the evaluation of `published` is not stored as complete
	evaluated uint32    // newest hour whose evaluation is stored as complete
	// lagging has the last evaluated hour, by key, of each place that was not evaluated up to the hour `evaluated`.
	lagging   map[string]uint32
	recheck   bool      // air was published since the last comparison of past crossings began
	recheckAt time.Time // next comparison of past crossings
	unchecked []string  // keys of the places that the present comparison still has to compare

	publication aggregate.Publication // newest one in the store, whose evaluation has at least begun
	// inherited is the newest publication that another instance has evaluated. This instance may have other figures
	// for it, because it may have read the tables while a roll-up wrote them. Therefore its figures change no alert
	// whose last change was in the same hour.
	inherited aggregate.Publication
}

// place has the alerts of one place, and its figures in the publication that was evaluated last.
type place struct {
	alert.Place

	alerts    map[string]*alert.Alert
	air       alert.Observation
	known     bool
	evaluated uint32 // newest hour that was evaluated; 0 for none

	behind  bool      // hours before the present one are to be evaluated first
	failed  error     // of reading these hours; nil for none
	retryAt time.Time // after failed
}

// New returns an Evaluator. It panics if a metric is already registered.
func New(c Config) *Evaluator {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	e := &Evaluator{Config: c, metrics: newMetrics(c.Metrics)}
	e.failures = failurelog.New(c.Log, "alerts: a store", "evaluating alerts", "events of alerts come later", e.metrics.failures)
	e.rechecks = failurelog.New(c.Log, "alerts: past hours", "comparing corrected hours", "alerts are resolved later", e.metrics.failures)
	return e
}

// Run evaluates alerts while this instance is the leader, until ctx ends.
func (e *Evaluator) Run(ctx context.Context) error {
	leading := leader.Config{DB: e.DB, Name: "alerts", Log: e.Log, Metrics: e.Config.Metrics}
	return leader.Run(ctx, leading, func(ctx context.Context, _ leader.Fence) error {
		e.mu.Lock()
		e.reset()
		e.mu.Unlock()
		defer e.metrics.reset()
		var rechecking sync.WaitGroup
		rechecking.Go(func() {
			sleep.Repeat(ctx, interval, func(ctx context.Context) { e.rechecks.Observe(ctx, e.Recheck(ctx)) })
		})
		defer rechecking.Wait()
		sleep.Repeat(ctx, interval, func(ctx context.Context) { e.failures.Observe(ctx, e.Refresh(ctx)) })
		return ctx.Err()
	})
}

// reset discards all alerts in memory and the state of their evaluation. The next refresh loads all alerts.
func (e *Evaluator) reset() {
	e.loaded, e.revision, e.alerts, e.lost = false, -1, make(map[string]*alert.Alert), nil
	for _, w := range schema.Worlds {
		e.worlds[w] = &world{world: w, places: make(map[string]*place)}
	}
	e.clockAt, e.purgeAt = time.Time{}, time.Time{}
}

// reload makes the next refresh read all alerts.
func (e *Evaluator) reload() { e.loaded, e.revision = false, -1 }

// Refresh evaluates what has changed since the last refresh: air, alerts and the time. After an error of the store,
// the next refresh repeats the evaluation. An error of one world or place does not affect the others.
func (e *Evaluator) Refresh(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.alerts == nil {
		e.reset()
	}
	changed, err := e.load(ctx)
	if err != nil {
		return err
	}
	now := e.Now()
	clock := !now.Before(e.clockAt)
	if clock {
		e.clockAt = now.Add(clockInterval)
	}
	var errs []error
	for _, w := range e.worlds {
		errs = append(errs, e.superseded(e.refreshWorld(ctx, w, changed, clock, now)))
	}
	if !now.Before(e.purgeAt) {
		e.purgeAt = now.Add(purgeInterval)
		errs = append(errs, purge(ctx, e.DB, now))
	}
	return errors.Join(errs...)
}

// superseded returns the given error of an evaluation. But if the error means that another instance has evaluated
// newer air, it returns nil, and the next refresh reads all alerts.
func (e *Evaluator) superseded(err error) error {
	if errors.Is(err, errOlderAir) {
		e.reload()
		return nil
	}
	return err
}

// refreshWorld evaluates one world. After a publication, or if `clock` is true, it evaluates all alerts. Otherwise it
// evaluates only the alerts in `changed`, which is the result of load.
func (e *Evaluator) refreshWorld(ctx context.Context, w *world, changed []*alert.Alert, clock bool, now time.Time) error {
	current := e.Air.Published(w.world)
	if current == nil || current.Newest() < w.evaluated || current.Publication().Compare(w.publication) < 0 {
		return nil // this instance has older air than the last leader had
	}
	switch {
	case current != w.published:
		if err := e.publish(ctx, w, current, now); err != nil {
			return err
		}
	case clock:
		if err := e.evaluate(ctx, w, w.all(), now); err != nil {
			return err
		}
		e.metrics.evaluated.WithLabelValues(w.world.String()).Set(float64(now.Unix()))
	case len(changed) > 0:
		if err := e.evaluate(ctx, w, w.of(changed), now); err != nil {
			return err
		}
	}
	return e.catchUp(ctx, w, now)
}

// publish evaluates the alerts of a world after a publication, except those of places that have missed hours.
func (e *Evaluator) publish(ctx context.Context, w *world, current Published, now time.Time) error {
	began := time.Now()
	if err := e.advance(ctx, w, current.Publication()); err != nil {
		return err
	}
	all := w.all()
	inParallel(all, func(part []group) {
		for _, p := range part {
			p.observe(current, e.Air.Chances(w.world, &p.Place))
			p.behind = p.known && p.evaluated > 0 && p.air.At > p.evaluated+hour
		}
	})
	if err := e.evaluate(ctx, w, all, now); err != nil {
		return err
	}
	w.published, w.pending, w.recheck = current, true, true
	e.metrics.seconds.Observe(time.Since(began).Seconds())
	e.metrics.evaluated.WithLabelValues(w.world.String()).Set(float64(now.Unix()))
	return nil
}

// observe sets the figures of the place to the figures of a publication.
func (p *place) observe(current Published, chances alert.Chances) {
	p.air.Figures, p.known = current.Figures(&p.Place)
	p.air.Chances = chances
}
