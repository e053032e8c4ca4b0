package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vayu/internal/sleep"
)

// Instance is one process of `vayu serve`.
type Instance struct {
	*Process

	Roles   []string
	Address string // host:port of its API; without the role api only /readyz is served there
	Data    string
	Net     *Network // nil if it has the network of this process
}

// topology lists the instances. Two have each role, so that the service survives the loss of one.
var topology = []struct {
	name  string
	roles []string
}{
	{"api-1", []string{"api"}},
	{"api-2", []string{"api"}},
	{"ingest-1", []string{"ingest"}},
	{"ingest-2", []string{"ingest"}},
	{"pipeline-1", []string{"pipeline"}},
	{"pipeline-2", []string{"pipeline"}},
	{"dispatch-1", []string{"dispatch"}},
	{"dispatch-2", []string{"dispatch"}},
}

// Has reports whether the instance runs a role: api, ingest, pipeline or dispatch.
func (i *Instance) Has(role string) bool { return slices.Contains(i.Roles, role) }

// plan makes the instances with their folders, addresses and networks. It starts none.
func (c *Cluster) plan(ctx context.Context) error {
	for _, t := range topology {
		i := &Instance{Roles: t.roles, Data: filepath.Join(c.Dir, t.name)}
		ip, env, argv := loopback, c.environment(), []string{c.program(), "serve"}
		if c.nets != nil {
			var err error
			if i.Net, err = c.nets.add(ctx, t.name); err != nil {
				return err
			}
			ip, argv = i.Net.IP, append(i.Net.enter(), argv...)
			env = append(env, "VAYU_INSECURE_HTTP=true")
		}
		if err := os.MkdirAll(i.Data, 0o700); err != nil {
			return fmt.Errorf("making the folder of %s: %w", t.name, err)
		}
		i.Address = freeAddress(ip)
		env = append(env, "VAYU_DATA="+i.Data, "VAYU_LISTEN="+i.Address, "VAYU_INTERNAL_LISTEN=public", "VAYU_ROLES="+strings.Join(t.roles, ","))
		i.Process = &Process{Name: t.name, argv: argv, env: env, dir: c.Dir}
		c.Instances = append(c.Instances, i)
	}
	return nil
}

// Instance returns the instance with a name; nil if it does not exist.
func (c *Cluster) Instance(name string) *Instance {
	for _, i := range c.Instances {
		if i.Name == name {
			return i
		}
	}
	return nil
}

// readyTimeout limits the wait for /readyz of an instance.
const readyTimeout = 3 * time.Second

// readiness is the body of /readyz.
type readiness struct {
	Status     string `json:"status"`
	State      string `json:"state"`
	ClickHouse string `json:"clickhouse"`
	Kafka      string `json:"kafka"`
}

// Healthy returns nil if the instance is ready and reaches every store that it needs.
func (i *Instance) Healthy(ctx context.Context) error {
	if !i.Alive() {
		return fmt.Errorf("%s does not run", i.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+i.Address+"/readyz", nil)
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", i.Name, err)
	}
	defer func() { _ = reply.Body.Close() }()
	var status readiness
	if err := json.NewDecoder(reply.Body).Decode(&status); err != nil {
		return fmt.Errorf("decoding /readyz of %s: %w", i.Name, err)
	}
	well := func(of string) bool { return of == "" || of == "ok" }
	if status.Status != "ready" || !well(status.State) || !well(status.ClickHouse) || !well(status.Kafka) {
		return fmt.Errorf("/readyz of %s: %+v", i.Name, status)
	}
	return nil
}

// healTimeout limits the recovery of the cluster on a busy machine: Kafka's brokers alone need 20
// seconds there.
const healTimeout = 3 * time.Minute

// Healthy returns nil if all processes run and reach each other.
func (c *Cluster) Healthy(ctx context.Context) error {
	for _, i := range c.Instances {
		if err := i.Healthy(ctx); err != nil {
			return err
		}
	}
	for n, at := range c.Brokers {
		if !accepts(ctx, at) {
			return fmt.Errorf("broker %d does not answer", n+1)
		}
	}
	if up := c.Balancer.Ready(); up < 2 {
		return fmt.Errorf("the balancer has %d instances", up)
	}
	return nil
}

// AwaitHealthy waits until the cluster is healthy. On a timeout it returns the last error.
func (c *Cluster) AwaitHealthy(ctx context.Context) error {
	if err := await(ctx, healTimeout, c.Healthy); err != nil {
		return fmt.Errorf("waiting for the cluster: %w", err)
	}
	return nil
}

// await polls check until it returns nil. On a timeout it returns the last error.
func await(ctx context.Context, timeout time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.New("timed out"))
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if !sleep.For(ctx, 200*time.Millisecond) {
			if errors.Is(context.Cause(ctx), context.Canceled) {
				return context.Canceled // the run was interrupted; the cluster may be healthy
			}
			return fmt.Errorf("%w; last error: %w", context.Cause(ctx), err)
		}
	}
}

// Command runs a command of vayu while the cluster runs, and returns its standard output. An
// error includes its standard error.
func (c *Cluster) Command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.program(), args...)
	cmd.Env, cmd.Dir = append(c.environment(), "VAYU_DATA="+c.Dir, "VAYU_STATE="+c.DSN), c.Dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("vayu %s: %w: %s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// NewKey creates a key with every scope, of an account without limits, for the mode live or test.
func (c *Cluster) NewKey(ctx context.Context, mode string) (string, error) {
	return c.Command(ctx, "key", "create", "--mode", mode, "--plan", "unlimited", "--scopes", "all", "--quiet")
}
