package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/leader"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// settleTime is how old an attempt is when it is copied. A transaction on
	// PostgreSQL may commit up to 30 seconds after it took its time, and what comes
	// to light behind the copier would never be copied; the rest is for clocks of
	// instances that differ.
	settleTime = 40 * time.Second
	// copyMost is how many attempts go into one insert.
	copyMost = 10_000
	// copyWindow is how far apart in time attempts of one batch are at most. A batch
	// goes into the databases of both worlds, one after the other; after a crash
	// between the two everything of the last window is copied again, which changes
	// nothing where it is there already.
	copyWindow = time.Minute
	// copyEvery is the pause after everything was copied, copyAgain after ClickHouse
	// has failed.
	copyEvery = 10 * time.Second
	copyAgain = 30 * time.Second
)

// CopierConfig is what a Copier is made of.
type CopierConfig struct {
	DB   *sqlstore.DB
	Conn driver.Conn
	// Database is where attempts of a world go; nil for World.Database.
	Database func(schema.World) string
	// Settle is how old an attempt is when it is copied; 0 for 40 s.
	Settle  time.Duration
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil for time.Now
}

// Copier copies attempts to ClickHouse for analysts, while this instance is the
// one. It is the only writer of the table attempt there. How far it is follows
// from what is there, so a crash and a ClickHouse that is away lose nothing; what
// is copied twice counts once, as the table is read with FINAL.
type Copier struct {
	CopierConfig

	after  int64 // recorded_at of the last that was copied, when known
	known  bool
	away   *failurelog.Outage
	most   int
	again  time.Duration
	copied prometheus.Counter
	failed prometheus.Counter
}

// NewCopier returns a copier. It fails when a metric is registered already.
func NewCopier(c CopierConfig) (*Copier, error) {
	if c.Database == nil {
		c.Database = schema.World.Database
	}
	if c.Settle == 0 {
		c.Settle = settleTime
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	copier := &Copier{
		CopierConfig: c, most: copyMost, again: copyAgain,
		copied: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_attempts_copied_total", Help: "Attempts of deliveries that were copied to ClickHouse.",
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_attempts_copy_failures_total", Help: "Times that copying attempts to ClickHouse failed and was put off.",
		}),
	}
	copier.away = failurelog.New(c.Log, "webhooks: ClickHouse", "copying attempts", "they wait", copier.failed)
	if c.Metrics == nil {
		return copier, nil
	}
	for _, m := range []prometheus.Collector{copier.copied, copier.failed} {
		if err := c.Metrics.Register(m); err != nil {
			return nil, fmt.Errorf("registering the metrics of copied attempts: %w", err)
		}
	}
	return copier, nil
}

// Run copies until ctx ends.
func (c *Copier) Run(ctx context.Context) error {
	return leader.Run(ctx, leader.Config{DB: c.DB, Name: "attempts", Log: c.Log, Metrics: c.Metrics}, c.run)
}

// run copies while this instance is the one. What another has copied meanwhile
// is not known.
func (c *Copier) run(ctx context.Context, _ leader.Fence) error {
	c.known = false
	for {
		pause := copyEvery
		err := c.copyDue(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the end of ctx is the reason, and no fault
		}
		c.away.Tell(ctx, err)
		if err != nil {
			c.known, pause = false, c.again
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// copyDue copies everything that is old enough.
func (c *Copier) copyDue(ctx context.Context) error {
	if !c.known {
		var err error
		if c.after, err = c.latest(ctx); err != nil {
			return err
		}
		c.known = true
	}
	until := c.Now().Add(-c.Settle).UnixMicro()
	for {
		batch, err := c.next(ctx, until)
		if err != nil || len(batch) == 0 {
			return err
		}
		for _, world := range schema.Worlds {
			if err := c.store(ctx, world, batch); err != nil {
				return err
			}
		}
		c.after = batch[len(batch)-1].recorded
		c.copied.Add(float64(len(batch)))
	}
}

// latest is behind what everything is to be copied, by what ClickHouse has.
func (c *Copier) latest(ctx context.Context) (int64, error) {
	latest := int64(math.MinInt64)
	for _, world := range schema.Worlds {
		var rows uint64
		var at int64
		query := "SELECT count(), toUnixTimestamp64Micro(max(recorded_at)) FROM " + c.Database(world) + ".attempt"
		if err := c.Conn.QueryRow(ctx, query).Scan(&rows, &at); err != nil {
			return 0, fmt.Errorf("asking ClickHouse for the latest attempt in %s: %w", world, err)
		}
		if rows > 0 {
			latest = max(latest, at-copyWindow.Microseconds()-1)
		}
	}
	return latest, nil
}
