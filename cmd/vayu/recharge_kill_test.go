//go:build integration

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	"vayu/internal/failpoint"
)

// rechargeKills is how often the service is killed: at every named point in turn,
// and every fourth time at any moment. VAYU_TEST_KILLS sets another number.
const rechargeKills = 200

// TestIntegrationMoneyMovesOnceHoweverOftenTheServiceIsKilled, with an operator who
// drops, delays, doubles, lies and is not there, and clients who repeat what was not
// answered.
func TestIntegrationMoneyMovesOnceHoweverOftenTheServiceIsKilled(t *testing.T) {
	t.Parallel()
	newOperated(t, 1).endure(killsOr(rechargeKills), true)
}

// TestIntegrationMoneyMovesOnceBetweenTwoInstances on one PostgreSQL, of which one is
// killed while the other goes on.
func TestIntegrationMoneyMovesOnceBetweenTwoInstances(t *testing.T) {
	t.Parallel()
	newOperated(t, 2).endure(killsOr(rechargeKills/8), false)
}

// endure kills the service under load, and looks at what is left.
func (w *operated) endure(times int, every bool) {
	w.Helper()
	clients := w.clients()
	w.kill(times, failpoint.OfRecharges, every)
	clients.stop()
	w.settle()
	w.reconcile()
	w.check(clients)
}

// clients ask for recharges, batches and refunds.
type clients struct {
	*crowd
	txns map[string]string // ref_id -> transaction id
}

func (w *operated) clients() *clients {
	c := &clients{crowd: w.crowd(), txns: map[string]string{}}
	for n := range 8 {
		c.wait.Go(func() { c.recharge(n) })
	}
	c.wait.Go(c.batch)
	c.wait.Go(c.refund)
	return c
}

// known records the transaction of a ref_id, which must not change.
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
