//go:build integration

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/verify/simulator"
	"vayu/schema"
)

// verifyKills is how often the service is killed: at every named point in turn, and
// every fourth time at any moment.
const verifyKills = 100

// TestIntegrationNoPennyIsDroppedTwiceHoweverOftenTheServiceIsKilled, with a bank that
// drops, delays, doubles, lies and is not there, and clients who repeat what was not
// answered.
func TestIntegrationNoPennyIsDroppedTwiceHoweverOftenTheServiceIsKilled(t *testing.T) {
	t.Parallel()
	newBanked(t, 1).endure(killsOr(verifyKills), true)
}

// TestIntegrationNoPennyIsDroppedTwiceByTwoInstances on one PostgreSQL, of which one is
// killed while the other goes on.
func TestIntegrationNoPennyIsDroppedTwiceByTwoInstances(t *testing.T) {
	t.Parallel()
	newBanked(t, 2).endure(killsOr(verifyKills/8), false)
}

// banked is a bad world with a bank that makes every deposit as often as it is asked
// for, and does half of what can go wrong.
type banked struct {
	*badWorld
	bank *simulator.Simulator
}

func newBanked(t *testing.T, instances int) *banked {
	t.Helper()
	w := &banked{badWorld: newBadWorld(t, instances)}
	w.bank = simulator.New(simulator.Config{
		Rates: map[simulator.Fault]float64{
			simulator.DropBefore: 0.06, simulator.Drop: 0.08, simulator.Delay: 0.05, simulator.Duplicate: 0.08, simulator.Late: 0.06,
			simulator.LateMissing: 0.04, simulator.Page: 0.02, simulator.Broken: 0.03, simulator.Missing: 0.05, simulator.Away: 0.03,
		},
		Noise: 0.05, Seed: 20261122, Late: 3 * time.Second, Slow: 700 * time.Millisecond, Naive: true,
		Callback: "http://" + w.ports[0] + "/callbacks/simulator",
	})
	w.open("--verify-banks", simulator.Describe("http://"+w.upstream(w.bank, w.bank.Run)))
	return w
}

// endure kills the service under load, and looks at what is left.
func (w *banked) endure(times int, every bool) {
	w.Helper()
	c := &verifiers{crowd: w.crowd(), ids: map[string]string{}}
	for n := range 8 {
		c.wait.Go(func() { c.verify(n) })
	}
	c.wait.Go(c.batch)
	w.kill(times, failpoint.OfVerifications, every)
	c.stop()
	w.calm("verification", w.bank.Behave)
	nothing := func(r reply) bool {
		data, listed := r.body["data"].([]any)
		return listed && len(data) == 0
	}
	for _, path := range []string{"/v1/verification/batch?state=queued&limit=1", "/v1/verification/batch?state=processing&limit=1", "/v1/bank/verify?status=pending&limit=1"} {
		w.instances[0].within(backlogPatience, w.key, path, nothing)
	}
	w.check(c)
}

// verifiers are clients who want verifications.
type verifiers struct {
	*crowd
	ids map[string]string // ref_id -> verification
}

// wanted is the body of a verification: of an account, or of an address.
func wanted(ref string) string {
	if rand.IntN(4) == 0 {
		return fmt.Sprintf(`{"vpa":"asha%d@okaxis","name":"Asha Rao","ref_id":%q,"async":true}`, rand.IntN(1_000_000), ref)
	}
	return fmt.Sprintf(`{"account_number":"5%010d","ifsc":"SBIN0000691","name":"Asha Rao","ref_id":%q,"async":true}`, rand.IntN(1_000_000_000), ref)
}

func (c *verifiers) verify(n int) {
	for i := 0; c.going(25 * time.Millisecond); i++ {
		ref := fmt.Sprintf("single-%d-%d", n, i)
		body := wanted(ref)
		for range 1 + rand.IntN(2) { // some ask twice
			r, ok := c.insist(http.MethodPost, "/v1/bank/verify", body)
			if !ok {
				return
			}
			id := r.text("verification_id")
			c.mu.Lock()
			before := c.ids[ref]
			c.ids[ref] = id
			c.mu.Unlock()
			if id == "" || before != "" && before != id {
				c.faultf("%s is %q and was %q: %d %s", ref, id, before, r.status, r.raw)
			}
		}
	}
}

func (c *verifiers) batch() {
	for i := 0; c.going(200 * time.Millisecond); i++ {
		var records []string
		for j := range 20 {
			records = append(records, wanted(fmt.Sprintf("batch-%d-%d", i, j)))
		}
		r, ok := c.insist(http.MethodPost, "/v1/verification/batch", fmt.Sprintf(`{"ref_id":"batch-%d","records":[%s]}`, i, strings.Join(records, ",")))
		if !ok {
			return
		}
		if r.status != http.StatusAccepted {
			c.faultf("batch %d was answered %d %s", i, r.status, r.raw)
		}
	}
}

// check stops the service and looks at what is left.
func (w *banked) check(c *verifiers) {
	w.Helper()
	w.stop(syscall.SIGTERM)
	for _, fault := range c.wrong {
		w.Error(fault)
	}
	view := sqlstoretest.Open(w.T, w.store).View(w.Context())
	made, told, states := w.bank.Made(), w.told(view), map[string]int{}
	err := sqlstore.Each(view, func(row sqlstore.Scanner) error {
		var id, method, is, batch string
		var ref *string
		if err := row.Scan(&id, &method, &is, &batch, &ref); err != nil {
			return err
		}
		states[method+" "+is]++
		if made[id] > 1 {
			w.Errorf("for %s the bank has made %d deposits", id, made[id])
		}
		if is == string(schema.VerificationPending) {
			w.Errorf("%s stays pending", id)
		}
		want := 1
		if batch != "" {
			want = 0
		}
		if told[id] != want {
			w.Errorf("%s of batch %q was told %d times", id, batch, told[id])
		}
		if ref != nil {
			if before := c.ids[*ref]; before != "" && before != id {
				w.Errorf("%s is %s, and its client was told %s", *ref, id, before)
			}
			delete(c.ids, *ref)
		}
		delete(made, id)
		return nil
	}, "SELECT id, method, state, batch_id, ref_id FROM verification")
	if err != nil {
		w.Fatal(err)
	}
	for id, n := range made {
		if n > 0 {
			w.Errorf("the bank has made %d deposits for %s, which nobody knows of", n, id)
		}
	}
	for ref, id := range c.ids {
		w.Errorf("%s was answered with %s, which is gone", ref, id)
	}
	w.batches(view, told)
	w.Logf("verifications: %v", states)
}

// told is how often the verdict of each verification, and the end of each batch, is in
// the store as an event.
func (w *banked) told(view sqlstore.View) map[string]int {
	w.Helper()
	out := map[string]int{}
	err := sqlstore.Each(view, func(row sqlstore.Scanner) error {
		var envelope []byte
		if err := row.Scan(&envelope); err != nil {
			return err
		}
		var e struct {
			Data struct {
				Verification string `json:"verification_id"`
				Batch        string `json:"batch_id"`
			}
		}
		err := json.Unmarshal(envelope, &e)
		out[e.Data.Verification+e.Data.Batch]++
		return err
	}, "SELECT envelope FROM event WHERE type LIKE 'verification.%'")
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// batches looks whether every record of every batch is a verification, once, and
// whether the end of the batch was told, once.
func (w *banked) batches(view sqlstore.View, told map[string]int) {
	w.Helper()
	n := 0
	err := sqlstore.Each(view, func(row sqlstore.Scanner) error {
		var id string
		var total, counted, items, verifications int
		if err := row.Scan(&id, &total, &counted, &items, &verifications); err != nil {
			return err
		}
		n++
		if counted != total || items != total || verifications != total || told[id] != 1 {
			w.Errorf("%s of %d records counts %d, has %d items and %d verifications, and was told %d times", id, total, counted, items, verifications, told[id])
		}
		return nil
	}, `SELECT b.id, b.total, b.successful + b.failed,
			(SELECT count(*) FROM batch_item i WHERE i.batch_id = b.id AND i.outcome <> 'begun'),
			(SELECT count(*) FROM batch_item i JOIN verification v ON v.id = i.subject WHERE i.batch_id = b.id)
		FROM batch b`)
	if err != nil {
		w.Fatal(err)
	}
	if n == 0 {
		w.Error("there is no batch")
	}
}
