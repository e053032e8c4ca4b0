//go:build integration

package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"vayu/internal/crash"
	"vayu/internal/pause"
)

// rechargeKills is how often the service is killed: at every named point in turn,
// and every fourth time at any moment. VAYU_TEST_KILLS sets another number.
const rechargeKills = 200

// TestIntegrationMoneyMovesOnceHoweverOftenTheServiceIsKilled, with an operator who
// drops, delays, doubles, lies and is not there, and clients who repeat what was not
// answered.
func TestIntegrationMoneyMovesOnceHoweverOftenTheServiceIsKilled(t *testing.T) {
	t.Parallel()
	newBadWorld(t, 1).kill(killsOr(rechargeKills), true)
}

// TestIntegrationMoneyMovesOnceBetweenTwoInstances on one PostgreSQL, of which one is
// killed while the other goes on.
func TestIntegrationMoneyMovesOnceBetweenTwoInstances(t *testing.T) {
	t.Parallel()
	newBadWorld(t, 2).kill(killsOr(rechargeKills/8), false)
}

func killsOr(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("VAYU_TEST_KILLS")); err == nil {
		return n
	}
	return usual
}

// kill kills instances in turn, under load, and looks at what is left. With every it
// wants each point to be reached.
func (w *badWorld) kill(times int, every bool) {
	w.Helper()
	clients := w.clients()
	reached := map[string]int{}
	for i := range times {
		point := ""
		if i%4 != 3 {
			point = crash.OfRecharges[(i/4*3+i%4)%len(crash.OfRecharges)]
		}
		if w.life(i%len(w.instances), point) {
			reached[point]++
		}
	}
	for _, point := range crash.OfRecharges {
		if every && reached[point] == 0 {
			w.Errorf("the service was never killed at %s", point)
		}
	}
	clients.stop()
	w.settle()
	w.reconcile()
	w.check(clients)
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
		pause.For(w.Context(), time.Duration(rand.IntN(1500))*time.Millisecond)
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

// clients ask for recharges, batches and refunds, and ask again for what they got no
// answer to, as clients should.
type clients struct {
	*badWorld
	quit chan struct{}
	wait sync.WaitGroup
	once sync.Once

	mu    sync.Mutex
	txns  map[string]string // ref_id -> transaction id
	wrong []string
}

func (w *badWorld) clients() *clients {
	c := &clients{badWorld: w, quit: make(chan struct{}), txns: map[string]string{}}
	for n := range 8 {
		c.wait.Go(func() { c.recharge(n) })
	}
	c.wait.Go(c.batch)
	c.wait.Go(c.refund)
	w.Cleanup(c.stop)
	return c
}

func (c *clients) stop() {
	c.once.Do(func() { close(c.quit) })
	c.wait.Wait()
}

// going waits for a moment; false when it is over.
func (c *clients) going(d time.Duration) bool {
	select {
	case <-c.quit:
		return false
	case <-time.After(d):
		return true
	}
}

// insist repeats a request until there is an answer; false when it is over.
func (c *clients) insist(method, path, body string) (reply, bool) {
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

func (c *clients) faultf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// known notes what a ref_id became: always the same.
func (c *clients) known(ref, txn string) {
	c.mu.Lock()
	before := c.txns[ref]
	c.txns[ref] = txn
	c.mu.Unlock()
	if before != "" && before != txn {
		c.faultf("%s is %s and was %s", ref, txn, before)
	}
}

// order is the body of a recharge.
func order(ref string) string {
	return fmt.Sprintf(`{"mobile":"98%08d","operator":"Airtel","amount":%d,"type":"prepaid","ref_id":%q}`, rand.IntN(100_000_000), 10+rand.IntN(90), ref)
}

func (c *clients) recharge(n int) {
	for i := 0; c.going(25 * time.Millisecond); i++ {
		ref := fmt.Sprintf("single-%d-%d", n, i)
		body := order(ref)
		for range 1 + rand.IntN(2) { // some ask twice
			r, ok := c.insist(http.MethodPost, "/v1/recharge", body)
			if !ok {
				return
			}
			if r.text("transaction_id") == "" {
				c.faultf("%s was answered %d %s", ref, r.status, r.raw)
				continue
			}
			c.known(ref, r.text("transaction_id"))
		}
	}
}

func (c *clients) batch() {
	for i := 0; c.going(200 * time.Millisecond); i++ {
		body := `{"ref_id":"batch-` + strconv.Itoa(i) + `","recharges":[`
		for j := range 20 {
			if j > 0 {
				body += ","
			}
			body += order(fmt.Sprintf("batch-%d-%d", i, j))
		}
		r, ok := c.insist(http.MethodPost, "/v1/recharge/batch", body+"]}")
		if !ok {
			return
		}
		if r.status != http.StatusAccepted {
			c.faultf("batch %d was answered %d %s", i, r.status, r.raw)
		}
	}
}

func (c *clients) refund() {
	for c.going(50 * time.Millisecond) {
		r, ok := c.insist(http.MethodGet, "/v1/recharge?status=success&limit=20", "")
		if !ok {
			return
		}
		data, _ := r.body["data"].([]any)
		if len(data) == 0 {
			continue
		}
		one, _ := data[rand.IntN(len(data))].(map[string]any)
		id, _ := one["transaction_id"].(string)
		if r, ok = c.insist(http.MethodPost, "/v1/recharge/"+id+"/refund", `{"reason":"asked for"}`); !ok {
			return
		}
		if r.status != http.StatusOK && r.status != http.StatusAccepted && r.status != http.StatusBadRequest {
			c.faultf("the refund of %s was answered %d %s", id, r.status, r.raw)
		}
	}
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
