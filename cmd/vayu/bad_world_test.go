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

// badWorld is a service of some instances, each of which may be killed at any moment,
// and somebody whom it calls and who is not there now and then.
type badWorld struct {
	*testing.T

	instances []*instance
	ports     []string // where they serve, which does not change
	key       string   // live
	store     sqlstore.Config
	stored    []string // the flags that name the store
}

// instance is a process, or the one that takes its place.
type instance struct {
	*serving

	data string
	args []string
}

// newBadWorld has addresses for so many instances.
func newBadWorld(t *testing.T, instances int) *badWorld {
	t.Helper()
	w := &badWorld{T: t}
	for range instances {
		w.ports = append(w.ports, freePort(t))
	}
	return w
}

// open starts the instances, several on one PostgreSQL, with a live account. The
// configuration file of the fake provider gets short pauses and its address.
func (w *badWorld) open(flag, description string) {
	w.Helper()
	file := filepath.Join(w.TempDir(), "upstream.yaml")
	text := strings.NewReplacer("timeout: 5s", "timeout: 1s", "resend-after: 5s", "resend-after: 1s").Replace(description)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	// Nothing here needs ClickHouse: one that is not there is not started 200 times.
	args := []string{flag, file, "--clickhouse", "http://127.0.0.1:1/"}
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

// start starts every instance.
func (w *badWorld) start() {
	w.Helper()
	for _, one := range w.instances {
		one.serving = start(w.T, one.data, one.args...)
	}
}

// calm stops every instance, makes what is pending in a table due, whoever has leased
// it and however long the pauses between its enquiries have become, and starts them for
// good. Behave lets nothing go wrong any more.
func (w *badWorld) calm(table string, behave func()) {
	w.Helper()
	behave()
	w.stop(syscall.SIGKILL)
	db, stop := sqlstoretest.Start(w.T, w.store)
	sqlstoretest.Exec(w.T, db, "UPDATE "+table+" SET due_at = created_at, tries = 0, token = '' WHERE due_at IS NOT NULL")
	stop()
	w.start()
}

// stop ends every instance.
func (w *badWorld) stop(by syscall.Signal) {
	for _, one := range w.instances {
		one.stop(by)
	}
}

// upstream serves at an address, but for moments now and then, and runs what calls
// from there.
func (w *badWorld) upstream(handler http.Handler, run func(context.Context) error) (address string) {
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
			_ = server.Close() // with what is under way
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

func (w *badWorld) listen(address string) net.Listener {
	l, err := net.Listen("tcp", address)
	if err != nil {
		w.Errorf("the upstream cannot listen: %v", err)
	}
	return l
}

// killsOr is how often a service is killed; VAYU_TEST_KILLS sets another number.
func killsOr(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("VAYU_TEST_KILLS")); err == nil {
		return n
	}
	return usual
}

// kill kills instances in turn, at every point and every fourth time at any moment.
// With every it wants each point to be reached.
func (w *badWorld) kill(times int, points []string, every bool) {
	w.Helper()
	reached := map[string]int{}
	for i := range times {
		point := ""
		if i%4 != 3 {
			point = points[(i/4*3+i%4)%len(points)]
		}
		if w.life(i%len(w.instances), point) {
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

// life ends an instance, starts it again, kills it at a point, or at any moment for an
// empty one, and starts it for good. It reports whether it was killed there.
func (w *badWorld) life(i int, point string) bool {
	w.Helper()
	one := w.instances[i]
	one.stop(syscall.SIGKILL)
	there := true
	if point == "" {
		one.serving = start(w.T, one.data, one.args...)
		sleep.For(w.Context(), time.Duration(rand.IntN(1500))*time.Millisecond)
		one.stop(syscall.SIGKILL)
	} else {
		cmd := exec.Command(built(w.T, "vayu-crash", "make integration"))
		cmd.Env = append(os.Environ(), "VAYU_TEST_CRASH="+point+":"+strconv.Itoa(1+rand.IntN(3)))
		one.serving, _ = begin(w.T, cmd, one.data, one.args...)
		select {
		case <-one.done: // it has killed itself
		case <-time.After(15 * time.Second): // nothing led there
			there = false
			one.stop(syscall.SIGKILL)
		}
	}
	if len(w.instances) > 1 || point == "" {
		one.serving = start(w.T, one.data, one.args...)
	}
	return there
}

// crowd is clients who ask, and ask again for what they got no answer to, as clients
// should.
type crowd struct {
	*badWorld
	quit chan struct{}
	wait sync.WaitGroup
	once sync.Once

	mu    sync.Mutex
	wrong []string
}

func (w *badWorld) crowd() *crowd {
	c := &crowd{badWorld: w, quit: make(chan struct{})}
	w.Cleanup(c.stop)
	return c
}

func (c *crowd) stop() {
	c.once.Do(func() { close(c.quit) })
	c.wait.Wait()
}

// going waits for a moment; false when it is over.
func (c *crowd) going(d time.Duration) bool {
	select {
	case <-c.quit:
		return false
	case <-time.After(d):
		return true
	}
}

// insist repeats a request until there is an answer; false when it is over.
func (c *crowd) insist(method, path, body string) (reply, bool) {
	for {
		at := &serving{T: c.T, address: "http://" + c.ports[rand.IntN(len(c.ports))]}
		r, err := at.try(method, c.key, path, body)
		if err == nil && r.status != http.StatusServiceUnavailable {
			return r, true
		}
		if !c.going(20 * time.Millisecond) {
			return reply{}, false
		}
	}
}

func (c *crowd) faultf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// freePort is an address that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
