// Package chaos runs Vayu on this machine as in production. It starts a balancer in front of two
// API instances, two collectors (one leads), two workers, two dispatchers, a ClickHouse, three
// Kafka brokers, and PostgreSQL. `make cluster` is for interactive use. Packages fault and load
// inject faults under load.
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

	"vayu/internal/testing/chaos/balance"
	"vayu/internal/testing/chaos/link"
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
	// Out receives progress messages.
	Out io.Writer
}

// Cluster is a running cluster.
type Cluster struct {
	Config

	Instances []*Instance
	Engine    *Process
	Balancer  *balance.Proxy
	// Store is the link from the instances to PostgreSQL.
	Store *link.Link
	// DSN addresses PostgreSQL directly, without Store.
	DSN string
	// Brokers are host:port of each broker of Kafka.
	Brokers []string
	// URL is the API's address for clients.
	URL string
	// Key is the encryption key of the state store.
	Key string

	postgres  string     // host:port, a new one after each start
	direct    *link.Link // to PostgreSQL, and never cut
	engineURL string
	feedURL   string
	guard     *guard
	nets      *networks
	end       context.CancelFunc
	services  sync.WaitGroup // servers and links of this process
}

// Start starts all processes and waits until they are healthy. After an error, it stops what it has
// started.
func Start(ctx context.Context, c Config) (all *Cluster, err error) {
	all = &Cluster{Config: c}
	services, end := context.WithCancel(context.WithoutCancel(ctx))
	all.end = end
	defer func() {
		if err != nil {
			err = errors.Join(err, all.Stop(context.WithoutCancel(ctx)))
		}
	}()
	if err := claim(c.Dir); err != nil {
		return all, err
	}
	if all.guard, err = startGuard(c); err != nil {
		return all, errors.Join(err, os.RemoveAll(c.Dir))
	}
	if err := c.writeCA(); err != nil {
		return all, err
	}
	if all.Key, err = newKey(); err != nil {
		return all, err
	}
	if err := all.mountDisks(ctx); err != nil {
		return all, err
	}
	if err := all.startStores(ctx); err != nil {
		return all, err
	}
	if c.Namespaces {
		if all.nets, err = newNetworks(ctx, c.Dir); err != nil {
			return all, err
		}
	}
	if err := all.startFronts(services); err != nil {
		return all, err
	}
	for _, i := range all.Instances {
		if err := i.Start(ctx); err != nil {
			return all, err
		}
	}
	if err := all.AwaitHealthy(ctx); err != nil {
		return all, err
	}
	return all, nil
}

func (c Config) caFile() string { return filepath.Join(c.Dir, "receivers.pem") }

// writeCA writes CA into a file, which the instances read.
func (c Config) writeCA() error {
	if len(c.CA) == 0 {
		return nil
	}
	if err := os.WriteFile(c.caFile(), c.CA, 0o600); err != nil {
		return fmt.Errorf("writing the authorities of receivers: %w", err)
	}
	return nil
}

// startFronts plans the instances, and starts the services of this process: the link to PostgreSQL,
// the feed of air, and the balancer. They end with ctx.
func (c *Cluster) startFronts(ctx context.Context) error {
	var err error
	for _, l := range []**link.Link{&c.Store, &c.direct} {
		if *l, err = link.New(ctx, freeAddress(loopback), c.postgres); err != nil {
			return err
		}
		c.services.Go(func() { (*l).Run(ctx) })
	}
	c.DSN = replaceHost(c.DSN, c.direct.Address())
	if c.feedURL, err = c.serve(ctx, http.HandlerFunc(feed)); err != nil {
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
	c.Balancer = balance.New(names, addresses)
	c.services.Go(func() { c.Balancer.Run(ctx) })
	return c.serveAt(ctx, front, c.Balancer)
}

// Stop stops everything in order: instances first, stores last.
func (c *Cluster) Stop(ctx context.Context) error {
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
