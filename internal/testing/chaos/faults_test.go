package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"vayu/internal/sleep"

	"github.com/google/go-cmp/cmp"
)

// Fault is one injected fault.
type Fault struct {
	Name string
	// Do injects the fault and ends it. note is for the report.
	Do func(ctx context.Context, c *Cluster) (note string, err error)
	// kills is the number of killed API instances. Each may lose the counts of its last second.
	kills int
	// takeOver requires that events committed before the fault arrive within maxTakeOver after its start.
	takeOver bool
	// maxHeal limits the time after the fault until all events committed before have arrived; 0 for
	// no limit.
	maxHeal time.Duration
	// rolls marks a rolling restart: no request may fail.
	rolls bool
	// alone marks faults during which instances cannot exchange their counts.
	alone bool
}

// Durations of faults.
const (
	killedFor   = 5 * time.Second
	deadFor     = 20 * time.Second // longer than a takeover may take
	cutFor      = 30 * time.Second
	pausedFor   = 60 * time.Second
	diskFullFor = 30 * time.Second
	abusedFor   = 60 * time.Second
)

// allFaults returns all faults, in their order.
func allFaults() []Fault {
	all := []Fault{
		{Name: "kill-api-1", Do: killed("api-1", killedFor), kills: 1},
		{Name: "kill-api-2", Do: killed("api-2", killedFor), kills: 1},
		{Name: "kill-ingest-leader", Do: killLeader},
		{Name: "kill-ingest-other", Do: killOther},
		{Name: "kill-pipeline-1", Do: killed("pipeline-1", killedFor)},
		{Name: "kill-pipeline-2", Do: killed("pipeline-2", killedFor)},
		{Name: "kill-dispatch-1", Do: killed("dispatch-1", deadFor), takeOver: true},
		{Name: "kill-dispatch-2", Do: killed("dispatch-2", deadFor), takeOver: true},
		{Name: "kill-engine", Do: killEngine},
	}
	for n := range 3 {
		all = append(all, Fault{Name: fmt.Sprint("kill-broker-", n+1), Do: killBroker(n + 1)})
	}
	return append(all,
		Fault{Name: "abuse", Do: abuse},
		Fault{Name: "kill-postgres", Do: killPostgres, alone: true},
		Fault{Name: "cut-postgres", Do: cutPostgres, alone: true},
		Fault{Name: "pause-engine", Do: pauseEngine},
		Fault{Name: "full-disk-api", Do: fullDisk("api-2")},
		Fault{Name: "full-disk-engine", Do: fullDisk("engine")},
		Fault{Name: "full-disk-postgres", Do: fullDiskPostgres, alone: true},
		Fault{Name: "full-disk-broker-2", Do: fullDiskBroker},
		Fault{Name: "roll-instances", Do: rollInstances, rolls: true},
		Fault{Name: "roll-stores", Do: rollStores, rolls: true},
	)
}

// selectFaults returns the faults whose names begin with one of the prefixes, or all without prefixes.
func selectFaults(all []Fault, prefixes []string) ([]Fault, error) {
	if len(prefixes) == 0 {
		return all, nil
	}
	var chosen []Fault
	known := map[string]bool{}
	for _, f := range all {
		for _, prefix := range prefixes {
			if strings.HasPrefix(f.Name, prefix) {
				chosen, known[prefix] = append(chosen, f), true
				break
			}
		}
	}
	for _, prefix := range prefixes {
		if !known[prefix] {
			return nil, fmt.Errorf("there is no fault %q; there are %s", prefix, strings.Join(names(all), ", "))
		}
	}
	return chosen, nil
}

func names(all []Fault) (out []string) {
	for _, f := range all {
		out = append(out, f.Name)
	}
	return out
}

// wait pauses for d. It fails if ctx ends first.
func wait(ctx context.Context, d time.Duration) error {
	if !sleep.For(ctx, d) {
		return ctx.Err()
	}
	return nil
}

// killed returns a fault that kills an instance and restarts it after the time away.
func killed(name string, away time.Duration) func(context.Context, *Cluster) (string, error) {
	return func(ctx context.Context, c *Cluster) (string, error) {
		return "", restart(ctx, c.Instance(name).Process, away)
	}
}

func restart(ctx context.Context, p *Process, away time.Duration) error {
	if err := p.Kill(); err != nil {
		return err
	}
	if err := wait(ctx, away); err != nil {
		return err
	}
	return p.Start(ctx)
}

// maxLeaderless limits the time without a leader.
const maxLeaderless = 15 * time.Second

// killLeader kills the leader of the collectors; the standby must soon lead.
func killLeader(ctx context.Context, c *Cluster) (string, error) {
	leader := c.Leader(ctx)
	if leader == nil {
		return "", errors.New("no instance leads")
	}
	began := time.Now()
	if err := leader.Kill(); err != nil {
		return "", err
	}
	for c.Leader(ctx) == nil {
		if time.Since(began) > 4*maxLeaderless {
			return "", errors.Join(fmt.Errorf("%s after the end of %s no instance leads", 4*maxLeaderless, leader.Name), leader.Start(ctx))
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return "", err
		}
	}
	after := time.Since(began)
	note := fmt.Sprintf("the other collected after %.1f s", after.Seconds())
	if err := wait(ctx, deadFor-after); err != nil {
		return note, err
	}
	if after > maxLeaderless {
		note = "FAIL: " + note
	}
	return note, leader.Start(ctx)
}

// killOther kills the standby of the collectors.
func killOther(ctx context.Context, c *Cluster) (string, error) {
	leader := c.Leader(ctx)
	for _, i := range c.Instances {
		if i.Has("ingest") && i != leader {
			return "", restart(ctx, i.Process, killedFor)
		}
	}
	return "", errors.New("there is no other")
}

// abuse sends as much as possible from one account of the sandbox.
func abuse(ctx context.Context, c *Cluster) (string, error) {
	key, err := c.NewKey(ctx, "test")
	if err != nil {
		return "", err
	}
	a := &Abuse{URL: c.URL, Key: key, Cities: Cities}
	for _, i := range c.Instances {
		if i.Has("api") {
			a.Instances = append(a.Instances, i.Address)
		}
	}
	ctx, end := context.WithTimeout(ctx, abusedFor)
	defer end()
	err = a.Run(ctx)
	return a.Summary(), err
}

func killEngine(ctx context.Context, c *Cluster) (string, error) {
	return "", restart(ctx, c.Engine, killedFor)
}

func killBroker(n int) func(context.Context, *Cluster) (string, error) {
	return func(ctx context.Context, c *Cluster) (string, error) {
		if err := c.KillBroker(ctx, n); err != nil {
			return "", err
		}
		if err := wait(ctx, killedFor); err != nil {
			return "", err
		}
		return "", c.RestartBroker(ctx, n)
	}
}

func killPostgres(ctx context.Context, c *Cluster) (string, error) {
	pid, err := c.PostgresPID()
	if err != nil {
		return "", err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return "", fmt.Errorf("killing PostgreSQL: %w", err)
	}
	if err := wait(ctx, killedFor); err != nil {
		return "", err
	}
	return "", c.StartPostgres(ctx)
}

func cutPostgres(ctx context.Context, c *Cluster) (string, error) {
	c.Store.Cut()
	defer c.Store.Restore()
	return "", wait(ctx, cutFor)
}

func pauseEngine(ctx context.Context, c *Cluster) (string, error) {
	if err := c.Engine.Signal(syscall.SIGSTOP); err != nil {
		return "", err
	}
	return "", errors.Join(wait(ctx, pausedFor), c.Engine.Signal(syscall.SIGCONT))
}

func fullDisk(name string) func(context.Context, *Cluster) (string, error) {
	return func(ctx context.Context, c *Cluster) (string, error) {
		free, err := c.FillDisk(name)
		if errors.Is(err, ErrNoDisk) {
			return "left out: " + err.Error(), nil
		}
		if err != nil {
			return "", err
		}
		return "", errors.Join(wait(ctx, diskFullFor), free())
	}
}

// fullDiskPostgres fills the disk of PostgreSQL. PostgreSQL then rejects writes that need space, or ends
// when it cannot write its log. It is restarted as soon as there is space.
func fullDiskPostgres(ctx context.Context, c *Cluster) (string, error) {
	note, err := fullDisk("postgres")(ctx, c)
	if err != nil || note != "" {
		return note, err
	}
	return "", c.StartPostgres(ctx)
}

// fullDiskBroker fills the disk of a broker. The broker ends when it cannot write, and is restarted
// as soon as there is space.
func fullDiskBroker(ctx context.Context, c *Cluster) (string, error) {
	const n = 2
	note, err := fullDisk("broker-2")(ctx, c)
	if err != nil || note != "" {
		return note, err
	}
	if err := c.KillBroker(ctx, n); err != nil { // it may be ending
		return "", err
	}
	return "", c.RestartBroker(ctx, n)
}

// rollInstances restarts every instance gracefully, each when all are healthy again.
func rollInstances(ctx context.Context, c *Cluster) (string, error) {
	for _, i := range c.Instances {
		if err := i.Stop(ctx); err != nil {
			return "", err
		}
		if err := i.Start(ctx); err != nil {
			return "", err
		}
		if err := c.AwaitHealthy(ctx); err != nil {
			return "", fmt.Errorf("after the restart of %s: %w", i.Name, err)
		}
	}
	return "", nil
}

// rollStores restarts ClickHouse and every broker gracefully.
func rollStores(ctx context.Context, c *Cluster) (string, error) {
	if err := c.Engine.Stop(ctx); err != nil {
		return "", err
	}
	if err := c.Engine.Start(ctx); err != nil {
		return "", err
	}
	if err := c.AwaitHealthy(ctx); err != nil {
		return "", fmt.Errorf("after the restart of ClickHouse: %w", err)
	}
	for n := range c.Brokers {
		if err := c.StopBroker(ctx, n+1); err != nil {
			return "", err
		}
		if err := c.RestartBroker(ctx, n+1); err != nil {
			return "", err
		}
		if err := c.AwaitHealthy(ctx); err != nil {
			return "", fmt.Errorf("after the restart of broker %d: %w", n+1, err)
		}
	}
	return "", nil
}

func TestChosen(t *testing.T) {
	t.Parallel()
	all := allFaults()
	for _, c := range []struct{ prefixes, want []string }{
		{nil, names(all)},
		{[]string{"kill-api"}, []string{"kill-api-1", "kill-api-2"}},
		{[]string{"roll-stores", "kill-broker-2"}, []string{"kill-broker-2", "roll-stores"}}, // in their own order
	} {
		t.Run(fmt.Sprintf("%q", c.prefixes), func(t *testing.T) {
			got, err := selectFaults(all, c.prefixes)
			if diff := cmp.Diff(c.want, names(got)); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
	if got, err := selectFaults(all, []string{"kill-api", "earthquake"}); err == nil {
		t.Errorf("an unknown fault is taken for %q", names(got))
	}
}

func TestNamesAreDifferent(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, name := range names(append(allFaults(), allPartitions()...)) {
		if known[name] {
			t.Errorf("two faults are called %s", name)
		}
		known[name] = true
	}
}
