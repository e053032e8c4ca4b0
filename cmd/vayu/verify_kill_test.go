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
	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakebank"
	"vayu/schema"
)

// verifyKills is the number of kills: three at each failpoint, and every fourth at
// random.
const verifyKills = 40

// No penny drop is repeated despite kills. The bank drops, delays, duplicates and
// falsifies replies. Clients retry.
func TestIntegrationNoPennyIsDroppedTwiceHoweverOftenTheServiceIsKilled(t *testing.T) {
	t.Parallel()
	newVerifyHarness(t, 1).killUnderLoad(killCount(t, verifyKills), true)
}

// Two instances share one PostgreSQL, and one is killed while the other continues.
func TestIntegrationNoPennyIsDroppedTwiceByTwoInstances(t *testing.T) {
	t.Parallel()
	newVerifyHarness(t, 2).killUnderLoad(killCount(t, verifyKills/4), false)
}

// verifyHarness is a killHarness with an unreliable bank, which makes a deposit for
// every duplicate request.
type verifyHarness struct {
	*killHarness
	bank *fakebank.Simulator
}

func newVerifyHarness(t *testing.T, instances int) *verifyHarness {
	t.Helper()
	w := &verifyHarness{killHarness: newKillHarness(t, instances)}
	w.bank = fakebank.New(providers.Config{
		Rates: map[providers.Fault]float64{
			providers.DropBefore: 0.06, providers.Drop: 0.08, providers.Delay: 0.05, fakebank.Duplicate: 0.08, fakebank.Late: 0.06,
			fakebank.LateMissing: 0.04, providers.Page: 0.02, providers.Broken: 0.03, fakebank.Missing: 0.05, fakebank.Away: 0.03,
		},
		Noise: 0.05, Seed: 20261122, Late: 3 * time.Second, Slow: 700 * time.Millisecond, Naive: true,
		Callback: "http://" + w.ports[0] + "/callbacks/simulator",
	})
	w.open("--verify-banks", fakebank.Describe("http://"+w.serveProvider(w.bank, w.bank.Callbacks.Run)))
	return w
}

// verifyFailpoints are the failpoints that a verification passes.
var verifyFailpoints = []string{
	failpoint.VerifyCreated, failpoint.VerifySending, failpoint.VerifyAnswered, failpoint.VerifySettled,
	failpoint.VerifyClaimed, failpoint.VerifyEnquired,
	failpoint.BatchAccepted, failpoint.BatchClaimed, failpoint.BatchBegun, failpoint.BatchDone,
}

// killUnderLoad kills the service under load, and checks the result.
func (w *verifyHarness) killUnderLoad(times int, every bool) {
	w.Helper()
	c := &verifyClients{clientGroup: w.newClients(), ids: map[string]string{}}
	for n := range 8 {
		c.wait.Go(func() { c.verify(n) })
	}
	c.wait.Go(c.batch)
	w.kill(times, verifyFailpoints, every)
	c.stop()
	w.restartQuietly("verification", w.bank.Dice.DisableFaults)
	nothing := func(r reply) bool {
		data, listed := r.body["data"].([]any)
		return listed && len(data) == 0
	}
	for _, path := range []string{"/v1/verification/batch?state=queued&limit=1", "/v1/verification/batch?state=processing&limit=1", "/v1/bank/verify?status=pending&limit=1"} {
		w.instances[0].within(backlogPatience, w.key, path, nothing)
	}
	w.check(c)
}

// verifyClients request verifications.
type verifyClients struct {
	*clientGroup
	ids map[string]string // ref_id -> verification
}

// verificationBody returns the body of a verification of an account or a UPI address.
func verificationBody(ref string) string {
	if rand.IntN(4) == 0 {
		return fmt.Sprintf(`{"vpa":"asha%d@okaxis","name":"Asha Rao","ref_id":%q,"async":true}`, rand.IntN(1_000_000), ref)
	}
	return fmt.Sprintf(`{"account_number":"5%010d","ifsc":"SBIN0000691","name":"Asha Rao","ref_id":%q,"async":true}`, rand.IntN(1_000_000_000), ref)
}

func (c *verifyClients) verify(n int) {
	for i := 0; c.pause(25 * time.Millisecond); i++ {
		ref := fmt.Sprintf("single-%d-%d", n, i)
		body := verificationBody(ref)
		for range 1 + rand.IntN(2) { // some clients send it twice
			r, ok := c.sendUntilAnswered(http.MethodPost, "/v1/bank/verify", body)
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

func (c *verifyClients) batch() {
	for i := 0; c.pause(200 * time.Millisecond); i++ {
		var records []string
		for j := range 20 {
			records = append(records, verificationBody(fmt.Sprintf("batch-%d-%d", i, j)))
		}
		r, ok := c.sendUntilAnswered(http.MethodPost, "/v1/verification/batch", fmt.Sprintf(`{"ref_id":"batch-%d","records":[%s]}`, i, strings.Join(records, ",")))
		if !ok {
			return
		}
		if r.status != http.StatusAccepted {
			c.faultf("batch %d was answered %d %s", i, r.status, r.raw)
		}
	}
}

// check stops the service and checks the final state.
func (w *verifyHarness) check(c *verifyClients) {
	w.Helper()
	w.stop(syscall.SIGTERM)
	for _, fault := range c.wrong {
		w.Error(fault)
	}
	view := sqlstoretest.Open(w.T, w.store).View(w.Context())
	made, events, states := w.bank.Deposits(), w.countEvents(view), map[string]int{}
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
		if events[id] != want {
			w.Errorf("%s of batch %q has %d result events", id, batch, events[id])
		}
		if ref != nil {
			if before := c.ids[*ref]; before != "" && before != id {
				w.Errorf("%s is %s, and its client got %s", *ref, id, before)
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
			w.Errorf("the bank has made %d deposits for %s, which has no verification", n, id)
		}
	}
	for ref, id := range c.ids {
		w.Errorf("%s was answered with %s, which is gone", ref, id)
	}
	w.batches(view, events)
	w.Logf("verifications: %v", states)
}

// countEvents counts the result events of verifications and the completion events of
// batches.
func (w *verifyHarness) countEvents(view sqlstore.View) map[string]int {
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

// batches checks that every record of every batch is exactly one verification, and that
// every batch has one completion event.
func (w *verifyHarness) batches(view sqlstore.View, events map[string]int) {
	w.Helper()
	n := 0
	err := sqlstore.Each(view, func(row sqlstore.Scanner) error {
		var id string
		var total, counted, items, verifications int
		if err := row.Scan(&id, &total, &counted, &items, &verifications); err != nil {
			return err
		}
		n++
		switch {
		case counted != total:
			w.Errorf("counted = %v, want %v", counted, total)
		case items != total:
			w.Errorf("items = %v, want %v", items, total)
		case verifications != total:
			w.Errorf("verifications = %v, want %v", verifications, total)
		case events[id] != 1:
			w.Errorf("events[id] = %v, want 1", events[id])
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
