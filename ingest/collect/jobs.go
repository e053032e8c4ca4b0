package collect

import (
	"context"
	"time"

	"vayu/ingest/backfill"
	"vayu/ingest/runner"
	"vayu/internal/leader"
	"vayu/internal/share"
	"vayu/internal/sleep"
	"vayu/schema"
)

// jobs returns the jobs that instances share: one for each source, and one for each running backfill of a known source.
func (c *Collector) jobs(ctx context.Context) ([]share.Job, error) {
	var all []share.Job
	for _, w := range c.Worlds {
		for _, name := range w.Sources {
			all = append(all, share.Job{Name: w.World.String() + "/" + name, Run: func(ctx context.Context, fence leader.Fence, quit <-chan struct{}) error {
				d, err := w.Stream(name)
				if err != nil {
					return err
				}
				if d != nil {
					return c.receive(ctx, w, d, fence, quit)
				}
				r, err := c.newRunner(w, name, fence, quit)
				if err != nil {
					return err
				}
				defer r.ResetMetrics() // another instance continues; old metrics must not cause alerts
				return r.Run(ctx)
			}})
		}
		running, err := w.Backfills.Running(ctx)
		if err != nil {
			return nil, err
		}
		for name, id := range running {
			if !w.Knows(name) {
				continue
			}
			all = append(all, share.Job{Name: BackfillJob(w.World, name), Run: func(ctx context.Context, fence leader.Fence, quit <-chan struct{}) error {
				return c.backfill(ctx, w, id, fence, quit)
			}})
		}
	}
	return all, nil
}

// BackfillJob returns the name of the job of a backfill.
func BackfillJob(w schema.World, source string) string {
	return w.String() + "/" + source + " backfill"
}

// backfill works on the backfill with the given id. It retries with backoff after an error, until ctx ends.
func (c *Collector) backfill(ctx context.Context, w World, id string, fence leader.Fence, quit <-chan struct{}) error {
	r, err := runner.New(c.runnerConfig(w, fence, quit))
	if err != nil {
		return err
	}
	worker := backfill.Worker{
		Store: w.Backfills, Feed: w.Feed, Runner: r, Log: c.Log.With("world", w.World),
		Changed: func() { c.rollUps[w.World].changed(ctx, false) }, Metrics: c.Backfill,
	}
	for failures := 0; ctx.Err() == nil; failures++ {
		err := worker.Work(ctx, id, quit)
		if err == nil {
			return nil
		}
		c.Log.WarnContext(ctx, "a backfill was interrupted; continuing", "backfill", id, "error", err)
		sleep.For(ctx, sleep.Backoff(failures, time.Second, time.Minute))
	}
	return nil
}

func (c *Collector) newRunner(w World, name string, fence leader.Fence, quit <-chan struct{}) (*runner.Runner, error) {
	feed, err := w.Feed(name)
	if err != nil {
		return nil, err
	}
	return runner.New(c.runnerConfig(w, fence, quit), feed)
}

func (c *Collector) runnerConfig(w World, fence leader.Fence, quit <-chan struct{}) runner.Config {
	return runner.Config{
		Archive: &fencedArchive{w.Archive, fence}, Journal: w.Journal, Progress: w.Progress, OnChange: c.rollUps[w.World].changed,
		Quit: quit, Metrics: c.Metrics, Log: c.Log.With("world", w.World),
	}
}
