// Package chaos has the tests that run Vayu on this machine as in production and inject faults under
// load. A balancer is in front of two API instances, two collectors (one leads), two workers, two
// dispatchers, a ClickHouse, three Kafka brokers, and PostgreSQL. `make cluster`, `make faults` and
// `make partitions` run the tests of chaos_test.go. All other tests test the harness itself.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// Config configures a cluster.
type Config struct {
	// Root is the folder of the project, with bin/vayu and .ci.
	Root string
	// Dir is the folder of all data: empty or missing at the start, removed at the end.
	Dir string
	// CA holds the certificate authorities of webhook receivers on this machine, as PEM; empty for none.
	CA []byte
	// Keep leaves Dir when the cluster ends.
	Keep bool
	// Namespaces puts each instance into a separate network namespace. Network partitions need it.
	Namespaces bool
}

// Cluster is a running cluster.
type Cluster struct {
	Config

	Instances []*Instance
	Engine    *Process
	Balancer  *Balancer
	// Store is the link from the instances to PostgreSQL.
	Store *Link
	// DSN addresses PostgreSQL directly, without Store.
	DSN string
	// Brokers are host:port of each broker of Kafka.
	Brokers []string
	// URL is the API's address for clients.
	URL string
	// Key is the encryption key of the state store.
	Key string

	postgres   string // host:port, a new one after each start
	direct     *Link  // to PostgreSQL, and never cut
	engineURL  string
	feedURL    string
	guard      *guard
	nets       *networks
	background context.Context // of the servers and links of this process, until end
	end        context.CancelFunc
	services   sync.WaitGroup
}

// newCluster prepares a cluster, which the cleanup of the test stops.
func newCluster(t *testing.T, config Config) *Cluster {
	t.Helper()
	services, end := context.WithCancel(context.WithoutCancel(t.Context()))
	c := &Cluster{Config: config, background: services, end: end}
	t.Cleanup(func() {
		if err := c.stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

// start starts all processes and waits until they are healthy. After an error some may run.
func (c *Cluster) start(ctx context.Context) error {
	if err := claim(c.Dir); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		c.startGuard, c.writeCA, c.mountDisks, c.startStores, c.makeNetworks, c.startFronts, c.startInstances, c.AwaitHealthy,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) startInstances(ctx context.Context) error {
	for _, i := range c.Instances {
		if err := i.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c Config) caFile() string { return filepath.Join(c.Dir, "receivers.pem") }

// writeCA writes CA into a file, which the instances read.
func (c Config) writeCA(context.Context) error {
	if len(c.CA) == 0 {
		return nil
	}
	if err := os.WriteFile(c.caFile(), c.CA, 0o600); err != nil {
		return fmt.Errorf("writing the authorities of receivers: %w", err)
	}
	return nil
}

// startFronts plans the instances, and starts the services of this process: the link to PostgreSQL,
// the feed of air, and the balancer.
func (c *Cluster) startFronts(ctx context.Context) error {
	var err error
	for _, l := range []**Link{&c.Store, &c.direct} {
		if *l, err = newLink(c.background, freeAddress(loopback), c.postgres); err != nil {
			return err
		}
		c.services.Go(func() { (*l).Run(c.background) })
	}
	c.DSN = replaceHost(c.DSN, c.direct.Address())
	if c.feedURL, err = c.serve(http.HandlerFunc(feed)); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Folder(), 0o700); err != nil {
		return fmt.Errorf("making the folder of readings: %w", err)
	}
	front := freeAddress(loopback)
	c.URL = "http://" + front
	if err := c.plan(ctx); err != nil {
		return err
	}
	var names, addresses []string
	for _, i := range c.Instances {
		if i.Has("api") {
			names, addresses = append(names, i.Name), append(addresses, i.Address)
		}
	}
	c.Balancer = newBalancer(names, addresses)
	c.services.Go(func() { c.Balancer.Run(c.background) })
	return c.serveAt(front, c.Balancer)
}

// stop stops everything in order: instances first, stores last.
func (c *Cluster) stop(ctx context.Context) error {
	var faults []error
	var ending sync.WaitGroup
	ends := make([]error, len(c.Instances))
	for n, i := range c.Instances {
		ending.Go(func() { ends[n] = i.Stop(ctx) })
	}
	ending.Wait()
	faults = append(faults, ends...)
	if c.Engine != nil {
		faults = append(faults, c.Engine.Stop(ctx))
	}
	c.end()
	c.services.Wait()
	if c.guard != nil {
		faults = append(faults, c.guard.end())
	}
	return errors.Join(faults...)
}

// program is the binary under test.
func (c *Cluster) program() string { return filepath.Join(c.Root, "bin", "vayu") }

// environment is the environment of every instance and command. It excludes the caller's settings,
// which are for another service.
func (c *Cluster) environment() []string {
	env := []string{
		"VAYU_STATE=" + replaceHost(c.DSN, c.Store.Address()),
		"VAYU_KAFKA=" + strings.Join(c.Brokers, ","),
		"VAYU_EVENT_LOG_REPLICAS=3",
		"VAYU_CLICKHOUSE=" + c.engineURL,
		"VAYU_ENCRYPTION_KEY=" + c.Key,
		"VAYU_PUBLIC_URL=" + c.URL,
		"VAYU_PROXIES=127.0.0.0/8," + namespaceNetwork,
		"VAYU_RATE_LIMITS=off",
		"VAYU_DRAIN_DELAY=3s", // three polls of the balancer
		"VAYU_SOURCES=cpcb,file",
		"VAYU_SOURCE_CPCB_URL=" + c.feedURL,
		"VAYU_SOURCE_FILE_FOLDER=" + c.Folder(),
		"VAYU_SOURCE_FILE_SETTLE=0s", // files are renamed into the folder
		"VAYU_WEBHOOK_ALLOW=127.0.0.0/8",
		"VAYU_LOG_FORMAT=json",
	}
	if len(c.CA) > 0 {
		env = append(env, "VAYU_WEBHOOK_CA="+c.caFile())
	} else {
		env = append(env, "VAYU_WEBHOOK_LOCAL=true")
	}
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Print prints the processes and their addresses.
func (c *Cluster) Print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, address string, pid any, does string) {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%v\t%s\n", name, address, pid, does)
	}
	row("NAME", "ADDRESS", "PID", "ROLES")
	row("balancer", c.URL, os.Getpid(), "in front of api-1 and api-2")
	for _, i := range c.Instances {
		row(i.Name, i.Address, i.PID(), strings.Join(i.Roles, ","))
	}
	_, at, _ := strings.Cut(c.engineURL, "@")
	row("engine", strings.TrimSuffix(at, "/"), c.Engine.PID(), "ClickHouse")
	pid, err := c.PostgresPID()
	if err != nil {
		return err
	}
	row("postgres", c.postgres, pid, "state store; instances reach it at "+c.Store.Address())
	for n, at := range c.Brokers {
		pid, err := c.brokerPID(n + 1)
		if err != nil {
			return err
		}
		row(fmt.Sprint("kafka-", n+1), at, pid, "broker and controller")
	}
	return table.Flush()
}
