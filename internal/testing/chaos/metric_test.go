package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Metric is the sum of an instance's metric over all series whose labels contain a text, such as
// `name="rollup"`; an empty text selects all.
func (i *Instance) Metric(ctx context.Context, name, labelled string) (sum float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+i.Address+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, fmt.Errorf("reading the metrics of %s: %w", i.Name, err)
	}
	defer func() { _ = reply.Body.Close() }()
	lines := bufio.NewScanner(reply.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		series, value, ok := strings.Cut(lines.Text(), " ")
		if bare, _, _ := strings.Cut(series, "{"); !ok || bare != name || !strings.Contains(series, labelled) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the metric %s of %s: %w", name, i.Name, err)
		}
		sum += v
	}
	return sum, lines.Err()
}

// Leader returns the collector that is the leader; nil if there is none.
func (c *Cluster) Leader(ctx context.Context) *Instance {
	for _, i := range c.Instances {
		if !i.Has("ingest") || !i.Alive() {
			continue
		}
		if leads, err := i.Metric(ctx, "vayu_leader", `name="rollup"`); err == nil && leads == 1 {
			return i
		}
	}
	return nil
}

// backfillTimeout limits the computation of the sandbox's 60 past days, on a small machine under load.
const backfillTimeout = 10 * time.Minute

// selectRolledUp reports whether a roll-up began after the newest reading of the sandbox was stored, and whether the
// readings reach back 59 days.
const selectRolledUp = `SELECT max(started) >= (SELECT max(ingested_at) FROM vayu_sandbox.reading)
	AND (SELECT min(at) FROM vayu_sandbox.reading) < now() - INTERVAL 59 DAY FROM vayu_sandbox.rollup`

// AwaitBackfill waits until the past hours of the sandbox's simulated air are stored and rolled up. Both
// begin at the first start and use most of a small machine, so measurements must wait for their end.
func (c *Cluster) AwaitBackfill(ctx context.Context) error {
	err := await(ctx, backfillTimeout, func(ctx context.Context) error {
		done, err := c.QueryClickHouse(ctx, selectRolledUp)
		if err == nil && strings.TrimSpace(done) != "1" {
			err = errors.New("the past is not rolled up")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting for the past of the sandbox: %w", err)
	}
	return nil
}

// QueryClickHouse queries ClickHouse directly, and returns rows of tab-separated values.
func (c *Cluster) QueryClickHouse(ctx context.Context, sql string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.engineURL, strings.NewReader(sql))
	if err != nil {
		return "", err
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", fmt.Errorf("asking ClickHouse: %w", err)
	}
	defer func() { _ = reply.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %.200s", reply.Status, text)
	}
	if err != nil {
		return "", fmt.Errorf("asking ClickHouse: %w", err)
	}
	return string(text), nil
}

// EngineAddress returns the host:port of ClickHouse.
func (c *Cluster) EngineAddress() string { return host(c.engineURL) }
