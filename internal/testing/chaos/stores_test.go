package chaos

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"vayu/internal/columnstore/embedded"
)

// brokers is the number of Kafka brokers. Three is the smallest number that tolerates the loss
// of one.
const brokers = 3

// newKey returns a new encryption key for the state store.
func newKey() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	return base64.StdEncoding.EncodeToString(raw[:])
}

// script runs a script of .ci, which starts or stops a store, and returns its output.
func (c *Cluster) script(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.Root, ".ci", name), args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.SysProcAttr = group()
	out, err := cmd.Output()
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return "", ctx.Err() // the kill caused the error, not the store
	}
	if err != nil {
		return "", fmt.Errorf(".ci/%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// startStores starts PostgreSQL, Kafka and ClickHouse concurrently.
func (c *Cluster) startStores(ctx context.Context) error {
	c.Key = newKey()
	var all sync.WaitGroup
	var postgres, kafka, click error
	all.Go(func() { postgres = c.StartPostgres(ctx) })
	all.Go(func() {
		var list string
		list, kafka = c.script(ctx, "kafka", "start", c.kafkaDir(), "--brokers", strconv.Itoa(brokers))
		c.Brokers = strings.Split(list, ",")
	})
	all.Go(func() { click = c.startEngine(ctx) })
	all.Wait()
	return errors.Join(postgres, kafka, click)
}

func (c Config) postgresDir() string { return filepath.Join(c.Dir, "pg-disk", "pg") }
func (c Config) kafkaDir() string    { return filepath.Join(c.Dir, "kafka") }
func (c Config) engineDir() string   { return filepath.Join(c.Dir, "engine") }

// StartPostgres starts PostgreSQL, also after a kill. After a kill it has another port.
func (c *Cluster) StartPostgres(ctx context.Context) error {
	dsn, err := c.script(ctx, "postgres", "start", c.postgresDir(), "max_wal_size=256") // MB, for its small disk
	if err != nil {
		return err
	}
	c.postgres = host(dsn)
	if c.Store == nil { // the first start
		c.DSN = dsn
		return nil
	}
	c.Store.SetTarget(c.postgres)
	c.direct.SetTarget(c.postgres)
	return nil
}

// PostgresPID returns the id of PostgreSQL's main process.
func (c *Cluster) PostgresPID() (int, error) {
	text, err := os.ReadFile(filepath.Join(c.postgresDir(), "cluster", "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("finding PostgreSQL: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		return 0, fmt.Errorf("finding PostgreSQL: %w", err)
	}
	return pid, nil
}

// KillBroker kills broker n, from 1, with kill -9.
func (c *Cluster) KillBroker(ctx context.Context, n int) error {
	_, err := c.script(ctx, "kafka", "kill", c.kafkaDir(), strconv.Itoa(n))
	return err
}

// brokerStopTimeout limits the time that a broker takes to hand over its partitions and end.
const brokerStopTimeout = 30 * time.Second

// StopBroker stops broker n gracefully, so that it first hands over its partitions.
func (c *Cluster) StopBroker(ctx context.Context, n int) error {
	pid, err := c.brokerPID(n)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping broker %d: %w", n, err)
	}
	late := await(ctx, brokerStopTimeout, func(ctx context.Context) error {
		if accepts(ctx, c.Brokers[n-1]) {
			return fmt.Errorf("broker %d still answers", n)
		}
		return nil
	})
	return errors.Join(late, c.KillBroker(ctx, n)) // which waits until the process has ended
}

// brokerPID returns the id of a broker's process.
func (c *Cluster) brokerPID(n int) (int, error) {
	text, err := os.ReadFile(filepath.Join(c.kafkaDir(), strconv.Itoa(n), "pid"))
	if err != nil {
		return 0, fmt.Errorf("finding broker %d: %w", n, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("finding broker %d: %w", n, err)
	}
	return pid, nil
}

// RestartBroker starts a killed broker, and waits until it has joined.
func (c *Cluster) RestartBroker(ctx context.Context, n int) error {
	_, err := c.script(ctx, "kafka", "revive", c.kafkaDir(), strconv.Itoa(n))
	return err
}

// startEngine starts the embedded ClickHouse as a process that no instance owns. It writes the
// configuration as a parent instance would.
func (c *Cluster) startEngine(ctx context.Context) error {
	if err := os.MkdirAll(c.engineDir(), 0o700); err != nil {
		return fmt.Errorf("making the folder of the engine: %w", err)
	}
	_, text, err := net.SplitHostPort(freeAddress(loopback))
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	settings := embedded.Config{Data: c.engineDir(), Port: port, MaxQueries: 64, Owner: "make cluster", Parent: os.Getpid()}
	c.Engine = &Process{
		Name: "engine", argv: []string{c.program(), "engine"}, env: os.Environ(), dir: c.Dir,
		handshake: func(in io.Writer, out io.Reader) error {
			if err := json.NewEncoder(in).Encode(settings); err != nil {
				return fmt.Errorf("configuring the engine: %w", err)
			}
			var report embedded.Report
			if err := json.NewDecoder(out).Decode(&report); err != nil {
				return fmt.Errorf("reading the report of the engine: %w", err)
			}
			if report.Error != "" {
				return errors.New(report.Error)
			}
			if _, got, _ := net.SplitHostPort(report.Address); got != text {
				return fmt.Errorf("the engine listens on %s, want port %s", report.Address, text)
			}
			return raisePriority(c.Engine.PID())
		},
	}
	if err := c.Engine.Start(ctx); err != nil {
		return err
	}
	address, password, err := embedded.Access(c.engineDir())
	if err != nil {
		return err
	}
	c.engineURL = "http://default:" + password + "@" + address + "/"
	return nil
}

// raisePriority gives all threads of the engine the priority of other processes, because it stands in for a ClickHouse
// server. The embedded engine lowers its own priority. Only root can raise it again.
func raisePriority(pid int) error {
	if os.Geteuid() != 0 {
		return nil
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return fmt.Errorf("listing the threads of the engine: %w", err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return fmt.Errorf("listing the threads of the engine: %w", err)
		}
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, id, 0); err != nil && !errors.Is(err, syscall.ESRCH) { // it may have ended
			return fmt.Errorf("raising the priority of the engine: %w", err)
		}
	}
	return nil
}
