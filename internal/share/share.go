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

// Job is a job that only one instance may run at the same time.
type Job struct {
	// Name identifies the job. It is the same on all instances.
	Name string
	// Run works until the job is done or ctx ends. When the channel `quit` is closed, Run returns as soon as another
	// instance can continue without repeating work. For `fence`, see [leader.Fence].
	Run func(ctx context.Context, fence leader.Fence, quit <-chan struct{}) error
}

// Config configures Run.
type Config struct {
	DB *sqlstore.DB
	// Group is a name for the shared jobs. The lease of a job has the name Group:job.
	Group string
	// Local is the name of this instance if it shares no jobs with other instances. The instance then runs all its
	// jobs. Local is "" if instances share the jobs.
	Local string
	// Place is an id of the store that the jobs write to. If a running member has a different place, Run fails with
	// [ErrPlace]. A member whose Place is "" is compatible with every place.
	Place string
	// Jobs returns the jobs that this instance can run at present. Run calls it every second.
	Jobs    func(ctx context.Context) ([]Job, error)
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

const (
	// interval is the time between two reads of the leases of all instances.
	interval = time.Second
	// keepMembers is how long the lease of a dead instance stays in the table after it has expired.
	keepMembers = time.Hour
)

// Run runs this instance's share of the jobs until ctx ends. If a job returns an error, Run ends and returns the error.
//
// On SQLite, or if Local is set, this instance runs all jobs. On PostgreSQL an instance is a member while it renews a
// lease of its own. The shares of two members differ by at most one job. An instance with more jobs than its share ends
// some of them: it closes the channel `quit` of each.
func Run(ctx context.Context, c Config) error {
	s := &sharer{
		Config: c, alone: c.Local != "" || c.DB.Name() == "sqlite", member: rand.Text(), running: make(map[string]*running),
		planner: planner{freeSince: make(map[string]time.Time), keepUntil: make(map[string]time.Time)},
		store:   failurelog.New(c.Log, "sharing "+c.Group+": the state store", "sharing jobs", "the running jobs continue while they have leases", nil),
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.fail = cancel
	if c.Place != "" {
		s.member = c.Place + placeEnd + s.member
	}
	member := leader.Config{DB: c.DB, Name: memberName(c.Group, c.Local, s.member), Log: c.Log} // no metric: the name differs after each start
	if !s.alone {
		err := leader.Run(ctx, member, func(ctx context.Context, _ leader.Fence) error {
			err := s.checkPlace(ctx)
			if err == nil {
				s.loop(ctx)
			}
			return err
		})
		return errors.Join(s.outcome(ctx), err)
	}
	var shown sync.WaitGroup
	shown.Go(func() { // the lease only makes Members count this instance; the jobs do not depend on it
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

// outcome returns the error of the job that has cancelled ctx, or nil if no job has.
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

// sharer is the state of Run. Only the goroutine of the method loop changes it.
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

// running is a job whose lease this instance has or tries to claim.
type running struct {
	cancel  func()        // ends the job, or the attempt to claim its lease, at once
	quit    chan struct{} // closed to end the job as soon as another instance can continue it
	leaving bool          // quit is closed
	leads   atomic.Bool   // this instance has the lease
	ended   atomic.Bool
}

// loop reads the leases of all instances every second, and starts and ends jobs, until ctx ends. Then it waits for the
// jobs.
func (s *sharer) loop(ctx context.Context) {
	defer s.all.Wait()
	for ok := true; ok; ok = sleep.For(ctx, interval) {
		jobs, err := s.Jobs(ctx)
		if err == nil {
			err = s.rebalance(ctx, jobs)
		}
		if ctx.Err() == nil {
			s.store.Observe(ctx, err)
		}
	}
}

// rebalance reads the leases once, and starts and ends jobs as [planner.plan] decides.
func (s *sharer) rebalance(ctx context.Context, jobs []Job) error {
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
	if err := s.readLeases(ctx, &v); err != nil {
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

// start starts a goroutine that claims the lease of a job and then runs the job.
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
