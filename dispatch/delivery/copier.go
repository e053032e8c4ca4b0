package delivery

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/internal/failurelog"
	"vayu/internal/leader"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// settleTime is the minimum age of attempts that are copied. A PostgreSQL transaction may commit an attempt up to 30 s
	// after the attempt's timestamp. If the copier has copied later timestamps before that commit, it would miss the
	// attempt. The other 10 s are for clock skew.
	settleTime = 40 * time.Second
	// copyMost is the maximum number of attempts in a batch. Only attempts that share one timestamp may exceed it.
	copyMost = 10_000
	// copyWindow is the maximum time span of a batch. A batch is inserted into the databases of both worlds (live and
	// sandbox), one after the other, and the second insert may fail. So at its start and after an error, the copier copies
	// the last window again, which is idempotent.
	copyWindow = time.Minute
	// copyEvery is how long the copier sleeps after it has copied all attempts that are due.
	copyEvery = 10 * time.Second
	// copyRetry is the delay after an error of ClickHouse or the state store.
	copyRetry = 30 * time.Second
)

// CopierConfig configures a Copier.
type CopierConfig struct {
	DB   *sqlstore.DB
	Conn driver.Conn
	// Database returns the ClickHouse database of a world. If it is nil, the copier uses World.Database.
	Database func(schema.World) string
	// Settle is the minimum age of a copied attempt. If it is 0, the copier uses 40 s.
	Settle  time.Duration
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil for time.Now
}

// Copier copies attempts to ClickHouse for analysts while this instance is the leader. It is the only writer of the
// table "attempt" in ClickHouse. It reads its position from that table, so a crash or a failure of ClickHouse loses
// nothing. Analysts read the table with FINAL, which removes duplicates.
type Copier struct {
	CopierConfig

	after      int64 // the next batch begins after this value of recorded_at; valid if positioned is set
	positioned bool
	failures   *failurelog.Log
	most       int
	retry      time.Duration
	copied     prometheus.Counter
	failed     prometheus.Counter
}

// NewCopier returns a copier. It panics if a metric is already registered.
func NewCopier(c CopierConfig) *Copier {
	if c.Database == nil {
		c.Database = schema.World.Database
	}
	if c.Settle == 0 {
		c.Settle = settleTime
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	auto := promauto.With(c.Metrics)
	copier := &Copier{
		CopierConfig: c, most: copyMost, retry: copyRetry,
		copied: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_attempts_copied_total", Help: "Attempts of deliveries copied to ClickHouse.",
		}),
		failed: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_attempts_copy_failures_total", Help: "Failed copies of attempts to ClickHouse; each is retried.",
		}),
	}
	copier.failures = failurelog.New(c.Log, "webhooks: ClickHouse", "copying attempts", "they wait", copier.failed)
	return copier
}

// Run copies attempts to ClickHouse until ctx ends.
func (c *Copier) Run(ctx context.Context) error {
	return leader.Run(ctx, leader.Config{DB: c.DB, Name: "attempts", Log: c.Log, Metrics: c.Metrics}, c.run)
}

// run copies attempts while this instance is the leader. It first discards its position, because another leader may
// have copied more attempts.
func (c *Copier) run(ctx context.Context, _ leader.Fence) error {
	c.positioned = false
	for {
		pause := copyEvery
		err := c.copyDue(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // ctx ended, which is not a failure
		}
		c.failures.Observe(ctx, err)
		if err != nil {
			c.positioned, pause = false, c.retry
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

func (c *Copier) copyDue(ctx context.Context) error {
	if !c.positioned {
		var err error
		if c.after, err = c.latest(ctx); err != nil {
			return err
		}
		c.positioned = true
	}
	until := c.Now().Add(-c.Settle).UnixMicro()
	for {
		batch, err := c.nextBatch(ctx, until)
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

// latest returns the position from which to copy: copyWindow before the newest row in ClickHouse. If ClickHouse has no
// row, it returns a position before all attempts.
func (c *Copier) latest(ctx context.Context) (int64, error) {
	latest := int64(math.MinInt64)
	for _, world := range schema.Worlds {
		var rows uint64
		var at int64
		query := "SELECT count(), toUnixTimestamp64Micro(max(recorded_at)) FROM " + c.Database(world) + ".attempt"
		if err := c.Conn.QueryRow(ctx, query).Scan(&rows, &at); err != nil {
			return 0, fmt.Errorf("reading the latest attempt in %s from ClickHouse: %w", world, err)
		}
		if rows > 0 {
			latest = max(latest, at-copyWindow.Microseconds()-1)
		}
	}
	return latest, nil
}
