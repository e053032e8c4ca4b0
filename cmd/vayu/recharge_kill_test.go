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

// rechargeKills is the number of kills: three at each failpoint, and every fourth at
// random.
const rechargeKills = 48

// Money moves once despite kills. The operator drops, delays, duplicates and falsifies
// replies. Clients retry.
func TestIntegrationMoneyMovesOnceHoweverOftenTheServiceIsKilled(t *testing.T) {
	t.Parallel()
	newRechargeHarness(t, 1).killUnderLoad(killCount(t, rechargeKills), true)
}

// Two instances share one PostgreSQL, and one is killed while the other continues.
func TestIntegrationMoneyMovesOnceBetweenTwoInstances(t *testing.T) {
	t.Parallel()
	newRechargeHarness(t, 2).killUnderLoad(killCount(t, rechargeKills/4), false)
}

// rechargeFailpoints are the failpoints that a recharge passes.
var rechargeFailpoints = []string{
	failpoint.RechargeCreated, failpoint.RechargeSending, failpoint.RechargeAnswered, failpoint.RechargeSettled,
	failpoint.RechargeClaimed, failpoint.RechargeEnquired, failpoint.RefundWanted, failpoint.RefundAnswered,
	failpoint.BatchAccepted, failpoint.BatchClaimed, failpoint.BatchBegun, failpoint.BatchDone,
}

// killUnderLoad kills the service under load, and checks the result.
func (w *rechargeHarness) killUnderLoad(times int, every bool) {
	w.Helper()
	clients := w.clients()
	w.kill(times, rechargeFailpoints, every)
	clients.stop()
	w.settle()
	w.reconcile()
	w.check(clients)
}

// rechargeClients request recharges, batches and refunds.
type rechargeClients struct {
	*clientGroup
	txns map[string]string // ref_id -> transaction id
}

func (w *rechargeHarness) clients() *rechargeClients {
	c := &rechargeClients{clientGroup: w.newClients(), txns: map[string]string{}}
	for n := range 8 {
		c.wait.Go(func() { c.recharge(n) })
	}
	c.wait.Go(c.batch)
	c.wait.Go(c.refund)
	return c
}

// record stores the transaction of a ref_id, which must not change.
func (c *rechargeClients) record(ref, txn string) {
	c.mu.Lock()
	before := c.txns[ref]
	c.txns[ref] = txn
	c.mu.Unlock()
	if before != "" && before != txn {
		c.faultf("%s is %s and was %s", ref, txn, before)
	}
}

// rechargeBody returns the body of a recharge.
func rechargeBody(ref string) string {
	return fmt.Sprintf(`{"mobile":"98%08d","operator":"Airtel","amount":%d,"type":"prepaid","ref_id":%q}`, rand.IntN(100_000_000), 10+rand.IntN(90), ref)
}

func (c *rechargeClients) recharge(n int) {
	for i := 0; c.pause(25 * time.Millisecond); i++ {
		ref := fmt.Sprintf("single-%d-%d", n, i)
		body := rechargeBody(ref)
		for range 1 + rand.IntN(2) { // some clients send it twice
			r, ok := c.sendUntilAnswered(http.MethodPost, "/v1/recharge", body)
			if !ok {
				return
			}
			if r.text("transaction_id") == "" {
				c.faultf("%s was answered %d %s", ref, r.status, r.raw)
				continue
			}
			c.record(ref, r.text("transaction_id"))
		}
	}
}

func (c *rechargeClients) batch() {
	for i := 0; c.pause(200 * time.Millisecond); i++ {
		body := `{"ref_id":"batch-` + strconv.Itoa(i) + `","recharges":[`
		for j := range 20 {
			if j > 0 {
				body += ","
			}
			body += rechargeBody(fmt.Sprintf("batch-%d-%d", i, j))
		}
		r, ok := c.sendUntilAnswered(http.MethodPost, "/v1/recharge/batch", body+"]}")
		if !ok {
			return
		}
		if r.status != http.StatusAccepted {
			c.faultf("batch %d was answered %d %s", i, r.status, r.raw)
		}
	}
}

func (c *rechargeClients) refund() {
	for c.pause(50 * time.Millisecond) {
		r, ok := c.sendUntilAnswered(http.MethodGet, "/v1/recharge?status=success&limit=20", "")
		if !ok {
			return
		}
		data, _ := r.body["data"].([]any)
		if len(data) == 0 {
			continue
		}
		one, _ := data[rand.IntN(len(data))].(map[string]any)
		id, _ := one["transaction_id"].(string)
		if r, ok = c.sendUntilAnswered(http.MethodPost, "/v1/recharge/"+id+"/refund", `{"reason":"asked for"}`); !ok {
			return
		}
		if r.status != http.StatusOK && r.status != http.StatusAccepted && r.status != http.StatusBadRequest {
			c.faultf("the refund of %s was answered %d %s", id, r.status, r.raw)
		}
	}
}
