package share_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/leader"
	"vayu/internal/share"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
)

// office notes which instance runs each job.
type office struct {
	mu    sync.Mutex
	runs  map[string]string // instance by job
	twice []string
}

func (o *office) job(instance, name string) share.Job {
	return share.Job{Name: name, Run: func(ctx context.Context, fence leader.Fence, quit <-chan struct{}) error {
		o.mu.Lock()
		if other := o.runs[name]; other != "" {
			o.twice = append(o.twice, fmt.Sprintf("%s on %s and %s", name, other, instance))
		}
		o.runs[name] = instance
		o.mu.Unlock()
		defer func() { // also if fence fails because the instance stops
			o.mu.Lock()
			defer o.mu.Unlock()
			delete(o.runs, name)
		}()
		if err := fence(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-quit:
		}
		return nil
	}}
}

// shares returns how many jobs each instance runs.
func (o *office) shares() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := make(map[string]int)
	for _, instance := range o.runs {
		n[instance]++
	}
	return n
}

// start starts an instance with n jobs.
func (o *office) start(t *testing.T, db *sqlstore.DB, instance string, n int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- share.Run(ctx, share.Config{
			DB: db, Group: "test", Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
			Jobs: func(context.Context) (all []share.Job, err error) {
				for i := range n {
					all = append(all, o.job(instance, fmt.Sprint("job-", i)))
				}
				return all, nil
			},
		})
	}()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("instance %s ended with %v", instance, err)
		}
	}
}

func TestInstancesShareJobs(t *testing.T) {
	t.Parallel()
	c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}
	o := &office{runs: make(map[string]string)}
	const jobs = 7
	stopA := o.start(t, sqlstoretest.Open(t, c), "a", jobs)
	fixture.Eventually(t, "one instance runs all jobs", func() bool { return o.shares()["a"] == jobs })
	stopB := o.start(t, sqlstoretest.Open(t, c), "b", jobs)
	stopC := o.start(t, sqlstoretest.Open(t, c), "c", jobs)
	fixture.Eventually(t, "three instances share the jobs", func() bool {
		n := o.shares()
		return n["a"]+n["b"]+n["c"] == jobs && n["a"] >= 2 && n["b"] >= 2 && n["c"] >= 2
	})
	stopB()
	fixture.Eventually(t, "two instances share the jobs of the third", func() bool {
		n := o.shares()
		return n["a"]+n["c"] == jobs && n["a"] >= 3 && n["c"] >= 3
	})
	stopA()
	stopC()
	if len(o.twice) > 0 {
		t.Errorf("jobs ran twice at a time: %v", o.twice)
	}
}

func TestProcessRunsAllJobsOnSQLite(t *testing.T) {
	t.Parallel()
	o := &office{runs: make(map[string]string)}
	stop := o.start(t, sqlstoretest.SQLite(t), "alone", 3)
	fixture.Eventually(t, "all jobs run", func() bool { return o.shares()["alone"] == 3 })
	stop()
}

func TestErrorOfJobEndsRun(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		broken := errors.New("broken")
		err := share.Run(t.Context(), share.Config{
			DB: db, Group: "test", Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
			Jobs: func(context.Context) ([]share.Job, error) {
				return []share.Job{{Name: "bad", Run: func(context.Context, leader.Fence, <-chan struct{}) error { return broken }}}, nil
			},
		})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad") {
			t.Errorf("error %v, want that of the job with its name", err)
		}
	})
}

// An instance that writes to another store than the running ones must not get some of their jobs.
func TestAnotherPlaceEndsRun(t *testing.T) {
	t.Parallel()
	c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}
	run := func(ctx context.Context, place string) (started, ended chan error) {
		started, ended = make(chan error, 1000), make(chan error, 1)
		db := sqlstoretest.Open(t, c)
		go func() {
			ended <- share.Run(ctx, share.Config{
				DB: db, Group: "test", Place: place, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
				Jobs: func(context.Context) ([]share.Job, error) {
					started <- nil
					return nil, nil
				},
			})
		}()
		return started, ended
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	started, first := run(ctx, "one")
	<-started
	_, other := run(t.Context(), "two")
	if err := <-other; !errors.Is(err, share.ErrPlace) || !strings.Contains(err.Error(), "(one), and this instance uses two") {
		t.Errorf("beside another place Run returned %v", err)
	}
	same, second := run(ctx, "one")
	<-same
	cancel()
	if err := errors.Join(<-first, <-second); err != nil {
		t.Errorf("instances with one place ended with %v", err)
	}
	started, _ = run(t.Context(), "two") // no other instance runs any more
	<-started
}
