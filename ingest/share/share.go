// Package share divides jobs among instances. Each job has a lease, so that one instance runs the job at a time. Each
// instance runs its share of the jobs. The jobs of an instance that dies move to other instances within ten seconds.
package share

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/leader"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
)

// Job is a job of which one instance is in charge at a time.
type Job struct {
	// Name identifies the job among all instances.
	Name string
	// Run works until the job is done, or ctx ends. When quit is closed, it returns at the next moment at which
	// another instance can continue without repeating work. fence is as for [leader.Run].
	Run func(ctx context.Context, fence leader.Fence, quit <-chan struct{}) error
}

// Config configures Run.
type Config struct {
	DB *sqlstore.DB
	// Group names the jobs that are shared. The leases have the names Group:job.
	Group string
	// Local, unless it is empty, names this instance: the jobs concern it only, so that it runs all of them.
	Local string
	// Jobs returns the jobs that this instance can run now. It is called every second.
	Jobs    func(ctx context.Context) ([]Job, error)
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

const (
	// interval is the time between two looks at the leases of all instances.
	interval = time.Second
	// keepMembers is how long the expired lease of an instance that died stays in the table.
	keepMembers = time.Hour
)

// Run runs the share of the jobs until ctx ends. It returns an error if a job does.
//
// On SQLite, and with Local, this instance runs all jobs. On PostgreSQL an instance is a member while it renews a
// lease of its own. The shares of the members differ by at most one job. An instance with more than its share
// ends jobs at the next good moment.
func Run(ctx context.Context, c Config) error {
	s := &sharer{
		Config: c, alone: c.Local != "" || c.DB.Name() == "sqlite", member: rand.Text(), running: make(map[string]*running),
		planner: planner{freeSince: make(map[string]time.Time), keepUntil: make(map[string]time.Time)},
		store:   failurelog.New(c.Log, "sharing "+c.Group+": the state store", "sharing jobs", "the running jobs continue while they have leases", nil),
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.fail = cancel
	member := leader.Config{DB: c.DB, Name: memberName(c.Group, c.Local, s.member), Log: c.Log} // no metric: the name differs after each start
	if !s.alone {
		err := leader.Run(ctx, member, func(ctx context.Context, _ leader.Fence) error {
			s.loop(ctx)
			return nil
		})
		return errors.Join(s.outcome(ctx), err)
	}
	var shown sync.WaitGroup
	shown.Go(func() { // only shows commands that the instance runs; the jobs do not depend on the store
		_ = leader.Run(ctx, member, func(ctx context.Context, _ leader.Fence) error {
			<-ctx.Done()
			return ctx.Err()
		})
	})
	s.loop(ctx)
	cancel(nil)
	shown.Wait()
	return s.outcome(ctx)
}

// outcome returns the error of the job that has ended the context; nil if none has.
func (s *sharer) outcome(ctx context.Context) error {
	failed, ok := errors.AsType[*jobError](context.Cause(ctx))
	if !ok {
		return nil
	}
	return failed
}

// jobError is the error of a job.
type jobError struct {
	name string
	err  error
}

// Error implements error.
func (e *jobError) Error() string { return fmt.Sprintf("job %q: %s", e.name, e.err) }

// Unwrap returns the cause.
func (e *jobError) Unwrap() error { return e.err }

// sharer is the state of Run. Only the goroutine of Run uses it.
type sharer struct {
	Config
	planner

	alone   bool
	member  string
	fail    context.CancelCauseFunc
	running map[string]*running
	all     sync.WaitGroup
	store   *failurelog.Log
}

// running is a job for which this instance has the lease, or tries to get it.
type running struct {
	cancel  func()        // ends the job or the attempt at once
	quit    chan struct{} // closed to end the job at the next good moment
	leaving bool          // quit is closed
	leads   atomic.Bool   // this instance has the lease
	ended   atomic.Bool
}

// loop follows the leases of all instances until ctx ends, and waits for the jobs.
func (s *sharer) loop(ctx context.Context) {
	defer s.all.Wait()
	for ok := true; ok; ok = sleep.For(ctx, interval) {
		jobs, err := s.Jobs(ctx)
		if err == nil {
			err = s.step(ctx, jobs)
		}
		if ctx.Err() == nil {
			s.store.Observe(ctx, err)
		}
	}
}

// step starts and ends jobs.
func (s *sharer) step(ctx context.Context, jobs []Job) error {
	for name, r := range s.running {
		if r.ended.Load() {
			delete(s.running, name)
		}
	}
	v := view{jobs: make([]string, 0, len(jobs)), mine: make(map[string]bool)}
	known := make(map[string]Job, len(jobs))
	for _, j := range jobs {
		v.jobs = append(v.jobs, j.Name)
		known[j.Name] = j
	}
	for name, r := range s.running {
		if r.leads.Load() && !r.leaving {
			v.mine[name] = true
		}
	}
	if err := s.look(ctx, &v); err != nil {
		return err
	}
	wanted := s.plan(&v, time.Now())
	for name, r := range s.running {
		_, exists := known[name]
		switch {
		case !exists || !wanted[name] && !r.leads.Load():
			r.cancel()
		case !wanted[name] && !r.leaving:
			r.leaving = true
			close(r.quit)
			s.Log.InfoContext(ctx, "leaving a job to another instance", "job", name, "members", len(v.members))
		}
	}
	for name := range wanted {
		if s.running[name] == nil {
			s.start(ctx, known[name])
		}
	}
	return nil
}

// start tries to get the lease of a job, and then runs the job.
func (s *sharer) start(ctx context.Context, job Job) {
	ctx, cancel := context.WithCancel(ctx)
	r := &running{cancel: cancel, quit: make(chan struct{})}
	s.running[job.Name] = r
	s.all.Go(func() {
		defer r.ended.Store(true)
		defer cancel()
		err := leader.Run(ctx, s.leaderConfig(s.Group+":"+job.Name), func(ctx context.Context, fence leader.Fence) error {
			r.leads.Store(true)
			defer r.leads.Store(false)
			return job.Run(ctx, fence, r.quit)
		})
		if err != nil {
			s.fail(&jobError{job.Name, err})
		}
	})
}

func (s *sharer) leaderConfig(name string) leader.Config {
	return leader.Config{DB: s.DB, Name: name, Local: s.Local != "", Log: s.Log, Metrics: s.Metrics}
}

// memberName is the name of the lease of a member. The names of jobs do not begin with a colon. The members of other
// instances do not see a local one.
func memberName(group, local, member string) string {
	if local != "" {
		return group + "@" + local + "::" + member
	}
	return group + "::" + member
}
