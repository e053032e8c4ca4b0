//go:build integration

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// killHarness runs instances that are killed at random, and a fake provider that is
// unavailable at times.
type killHarness struct {
	*testing.T

	instances []*instance
	ports     []string // their addresses, kept across restarts
	key       string   // live
	store     sqlstore.Config
	stored    []string // the flags that name the store
}

// instance is a process or its replacement.
type instance struct {
	*serverProcess

	data string
	args []string
}

// newKillHarness reserves the addresses of the instances.
func newKillHarness(t *testing.T, instances int) *killHarness {
	t.Helper()
	w := &killHarness{T: t}
	for range instances {
		w.ports = append(w.ports, freePort(t))
	}
	return w
}

// open starts the instances, several on one PostgreSQL, with a live account. The
// configuration file of the fake provider gets short pauses and its address.
func (w *killHarness) open(flag, description string) {
	w.Helper()
	file := filepath.Join(w.TempDir(), "upstream.yaml")
	text := strings.NewReplacer("timeout: 5s", "timeout: 1s", "resend-after: 5s", "resend-after: 1s").Replace(description)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	args := withoutEngine(flag, file)
	if len(w.ports) > 1 {
		w.store.DSN = sqlstoretest.PostgresDSN(w.T)
		w.stored = []string{"--state", string(w.store.DSN)}
	}
	for i, port := range w.ports {
		one := &instance{data: w.TempDir(), args: slices.Concat(args, w.stored, []string{"--listen", port})}
		w.instances = append(w.instances, one)
		if i == 0 {
			w.key = newKey(w.T, one.data, "live", append(w.stored, "--plan", "unlimited", "--scopes", "all")...)
		} else if err := copyFile(filepath.Join(w.instances[0].data, "encryption.key"), filepath.Join(one.data, "encryption.key")); err != nil {
			w.Fatal(err)
		}
	}
	if w.store.DSN == "" {
		w.store.Data = w.instances[0].data
	}
	w.start()
}

// withoutEngine adds an address at which there is no ClickHouse. A test that kills services without air saves the
// starts of the engine.
func withoutEngine(flags ...string) []string {
	return append(flags, "--clickhouse", "http://127.0.0.1:1/")
}

// start starts every instance.
func (w *killHarness) start() {
	w.Helper()
	for _, one := range w.instances {
		one.serverProcess = start(w.T, one.data, one.args...)
	}
}

// restartQuietly stops every instance, makes pending rows of a table due, and starts
// the instances for good. Behave ends the faults of the provider.
func (w *killHarness) restartQuietly(table string, behave func()) {
	w.Helper()
	behave()
	w.stop(syscall.SIGKILL)
	db, stop := sqlstoretest.Start(w.T, w.store)
	sqlstoretest.Exec(w.T, db, "UPDATE "+table+" SET due_at = created_at, tries = 0, token = '' WHERE due_at IS NOT NULL")
	stop()
	w.start()
}

// stop ends every instance.
func (w *killHarness) stop(by syscall.Signal) {
	for _, one := range w.instances {
		one.stop(by)
	}
}

// serveProvider serves handler at an address with short interruptions, and runs its
// callbacks.
func (w *killHarness) serveProvider(handler http.Handler, run func(context.Context) error) (address string) {
	w.Helper()
	address = freePort(w.T)
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() { _ = run(ctx) }) // it ends with ctx only
	listener := w.listen(address)
	parts.Go(func() {
		for ctx.Err() == nil {
			server := &http.Server{Handler: handler}
			served := make(chan error, 1)
			go func() { served <- server.Serve(listener) }()
			sleep.For(ctx, time.Duration(2000+rand.IntN(3000))*time.Millisecond)
			_ = server.Close() // aborts requests in flight
			<-served
			sleep.For(ctx, 200*time.Millisecond)
			if ctx.Err() == nil {
				listener = w.listen(address)
			}
		}
	})
	w.Cleanup(func() {
		stop()
		parts.Wait()
	})
	return address
}

func (w *killHarness) listen(address string) net.Listener {
	l, err := net.Listen("tcp", address)
	if err != nil {
		w.Errorf("the fake provider cannot listen: %v", err)
	}
	return l
}

// killCount returns the number of kills of a test: VAYU_TEST_KILLS (`make kills`) or
// else few, which is enough to reach each failpoint several times.
func killCount(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv("VAYU_TEST_KILLS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("VAYU_TEST_KILLS: %v", err)
	}
	return n
}

// kill kills instances in turn at the failpoints, and every fourth time at random. With
// every, each failpoint must be reached.
func (w *killHarness) kill(times int, points []string, every bool) {
	w.Helper()
	reached := map[string]int{}
	for i := range times {
		point := ""
		if i%4 != 3 {
			point = points[(i/4*3+i%4)%len(points)]
		}
		if w.restartAndKill(i%len(w.instances), point) {
			reached[point]++
		}
	}
	for _, point := range points {
		if every && reached[point] == 0 {
			w.Errorf("the service was never killed at %s", point)
		}
	}
	w.Logf("killed at %v", reached)
}

// restartAndKill restarts an instance, kills it at a failpoint, or at random for "",
// and starts it for good. It reports whether the failpoint was reached.
func (w *killHarness) restartAndKill(i int, point string) bool {
	w.Helper()
	one := w.instances[i]
	one.stop(syscall.SIGKILL)
	hit := true
	if point == "" {
		one.serverProcess = start(w.T, one.data, one.args...)
		sleep.For(w.Context(), time.Duration(rand.IntN(1500))*time.Millisecond)
		one.stop(syscall.SIGKILL)
	} else {
		cmd := exec.Command(built(w.T, "vayu-crash", "make integration"))
		cmd.Env = append(os.Environ(), "VAYU_TEST_CRASH="+point+":"+strconv.Itoa(1+rand.IntN(3)))
		one.serverProcess, _ = startProcess(w.T, cmd, one.data, one.args...)
		select {
		case <-one.done: // the failpoint killed it
		case <-time.After(patience): // the failpoint was not reached
			hit = false
			one.stop(syscall.SIGKILL)
		}
	}
	if len(w.instances) > 1 || point == "" {
		one.serverProcess = start(w.T, one.data, one.args...)
	}
	return hit
}

// clientGroup is a set of clients that retry requests without a reply.
type clientGroup struct {
	*killHarness
	quit chan struct{}
	wait sync.WaitGroup
	once sync.Once

	mu    sync.Mutex
	wrong []string
}

func (w *killHarness) newClients() *clientGroup {
	c := &clientGroup{killHarness: w, quit: make(chan struct{})}
	w.Cleanup(c.stop)
	return c
}

func (c *clientGroup) stop() {
	c.once.Do(func() { close(c.quit) })
	c.wait.Wait()
}

// pause waits for d; false when the test stops.
func (c *clientGroup) pause(d time.Duration) bool {
	select {
	case <-c.quit:
		return false
	case <-time.After(d):
		return true
	}
}

// sendUntilAnswered repeats a request until it has a reply; false when the test stops.
func (c *clientGroup) sendUntilAnswered(method, path, body string) (reply, bool) {
	for {
		at := &serverProcess{T: c.T, address: "http://" + c.ports[rand.IntN(len(c.ports))]}
		r, err := at.try(method, c.key, path, body)
		if err == nil && r.status != http.StatusServiceUnavailable {
			return r, true
		}
		if !c.pause(20 * time.Millisecond) {
			return reply{}, false
		}
	}
}

func (c *clientGroup) faultf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// freePort returns an unused address. Its port is below those that the system chooses. So no other process gets it
// while the instance is down.
func freePort(t *testing.T) (address string) {
	t.Helper()
	for range 100 {
		address = net.JoinHostPort("127.0.0.1", strconv.Itoa(20_000+rand.IntN(12_000)))
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("there is no free port")
	return ""
}
