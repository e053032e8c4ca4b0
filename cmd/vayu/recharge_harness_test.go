//go:build integration

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakeaggregator"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// rechargeHarness is a killHarness with an unreliable operator, which carries out every
// duplicate order.
type rechargeHarness struct {
	*killHarness
	operator *fakeaggregator.Simulator
}

// newRechargeHarness starts instances with an account that has money.
func newRechargeHarness(t *testing.T, instances int) *rechargeHarness {
	t.Helper()
	w := &rechargeHarness{killHarness: newKillHarness(t, instances)}
	w.operator = fakeaggregator.New(providers.Config{
		Rates: map[providers.Fault]float64{
			providers.DropBefore: 0.06, providers.Drop: 0.08, providers.Delay: 0.05, fakeaggregator.Duplicate: 0.08, fakeaggregator.Late: 0.06,
			fakeaggregator.LateFailure: 0.04, fakeaggregator.LieFailed: 0.03, providers.Page: 0.02, providers.Broken: 0.03, fakeaggregator.Refuse: 0.05,
		},
		Noise: 0.05, Seed: 20261121, Late: 3 * time.Second, Slow: 700 * time.Millisecond, Naive: true,
		Callback: "http://" + w.ports[0] + "/callbacks/simulator",
	})
	w.open("--recharge-operators", fakeaggregator.Describe("http://"+w.serveProvider(w.operator, w.operator.Callbacks.Run)))
	w.credit(w.instances[0].data, w.stored...)
	return w
}

// credit gives the account enough money for all orders.
func (w *rechargeHarness) credit(data string, stored ...string) {
	w.Helper()
	for n := range 5 {
		args := append([]string{"wallet", "credit", "--account", "default", "--amount", "1000000", "--note", fmt.Sprint("bank transfer ", n)}, stored...)
		if out, err := vayu(w.T, data, args...); err != nil {
			w.Fatalf("crediting the wallet: %v\n%s", err, out)
		}
	}
}

// settle starts every instance for good, and waits until no transaction is pending and
// all batches are done.
func (w *rechargeHarness) settle() {
	w.Helper()
	w.restartQuietly("recharge", w.operator.Dice.DisableFaults)
	one := w.instances[0]
	nothing := func(r reply) bool {
		data, listed := r.body["data"].([]any)
		return listed && len(data) == 0
	}
	one.within(backlogPatience, w.key, "/v1/recharge/batch?state=queued&limit=1", nothing)
	one.within(backlogPatience, w.key, "/v1/recharge/batch?state=processing&limit=1", nothing)
	one.within(backlogPatience, w.key, "/v1/recharge?status=pending&limit=1", nothing)
	one.within(backlogPatience, w.key, "/v1/wallet", func(r reply) bool { return r.body["held"] == 0.0 })
}

// reconcile compares the day with the file of the operator. Only the file shows orders
// that it carried out but reported as failed.
func (w *rechargeHarness) reconcile() {
	w.Helper()
	status, amount := map[string]string{}, map[string]schema.Paise{}
	for _, e := range w.operator.Ledger() {
		if e.Amount < 0 {
			status[e.Reference] = "refunded"
			continue
		}
		status[e.Reference], amount[e.Reference] = "success", e.Amount
	}
	var text strings.Builder
	text.WriteString("reference,status,amount\n")
	for reference, is := range status {
		fmt.Fprintf(&text, "%s,%s,%s\n", reference, is, amount[reference])
	}
	file := filepath.Join(w.TempDir(), "operator.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		w.Fatal(err)
	}
	one := w.instances[0]
	args := []string{"reconcile", file, "--provider", "simulator", "--apply"}
	if w.store.DSN != "" {
		args = append(args, "--state", string(w.store.DSN))
	}
	out, err := vayu(w.T, one.data, args...)
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: something is left for people
		w.Fatalf("vayu reconcile: %v\n%s", err, out)
	}
}

// finalRecharge is the final state of a recharge.
type finalRecharge struct{ id, ref, state, reference, alarm string }

// check stops the service and checks the final state.
func (w *rechargeHarness) check(c *rechargeClients) {
	w.Helper()
	w.stop(syscall.SIGTERM)
	for _, fault := range c.wrong {
		w.Error(fault)
	}
	db := sqlstoretest.Open(w.T, w.store)
	view := db.View(w.Context())
	report, err := wallet.Verify(w.Context(), db, "")
	if err != nil {
		w.Fatal(err)
	}
	for _, fault := range report.Faults {
		w.Errorf("the ledger: %v", fault)
	}
	all, err := sqlstore.All(view, func(row sqlstore.Scanner) (f finalRecharge, err error) {
		err = row.Scan(&f.id, &f.ref, &f.state, &f.reference, &f.alarm)
		return f, err
	}, "SELECT id, ref_id, state, reference, alarm FROM recharge WHERE mode = 'live'")
	if err != nil {
		w.Fatal(err)
	}
	effects, events, states := w.operator.Effects(), w.countEvents(view), map[string]int{}
	for _, f := range all {
		states[f.state]++
		w.checkRecharge(f, effects[f.reference], events[f.id])
		if before := c.txns[f.ref]; before != "" && before != f.id {
			w.Errorf("%s is %s, and its client got %s", f.ref, f.id, before)
		}
		delete(effects, f.reference)
		delete(c.txns, f.ref)
	}
	for reference, n := range effects {
		if n > 0 {
			w.Errorf("the operator has carried out %s, which has no recharge", reference)
		}
	}
	for ref, txn := range c.txns {
		w.Errorf("%s was answered with %s, which does not exist", ref, txn)
	}
	w.batches(view)
	w.Logf("%d recharges: %v", len(all), states)
}

// checkRecharge compares a recharge with the orders of the operator and with the
// events.
func (w *rechargeHarness) checkRecharge(f finalRecharge, effects int, events map[schema.EventType]int) {
	w.Helper()
	want, done := map[schema.EventType]int{}, 1
	switch schema.RechargeState(f.state) {
	case schema.RechargeSuccess:
		want[schema.EventRechargeCompleted] = 1
	case schema.RechargeRefunded:
		want[schema.EventRechargeCompleted], want[schema.EventRechargeRefunded] = 1, 1
	case schema.RechargeFailed:
		want[schema.EventRechargeFailed], done = 1, 0
		if f.alarm == "late_success" { // a false failure; the account was not charged
			done = 1
		}
	default:
		w.Errorf("%s stays %s", f.id, f.state)
		return
	}
	if effects != done {
		w.Errorf("%s is %s with alarm %q, and the operator has carried it out %d times", f.id, f.state, f.alarm, effects)
	}
	delete(events, schema.EventRechargePending)
	for typ, n := range want {
		if events[typ] != n {
			w.Errorf("%s is %s, and has %s %d times", f.id, f.state, typ, events[typ])
		}
		delete(events, typ)
	}
	if len(events) > 0 {
		w.Errorf("%s is %s, and also has the events %v", f.id, f.state, events)
	}
}

// countEvents counts by recharge and type the events in the store.
func (w *rechargeHarness) countEvents(view sqlstore.View) map[string]map[schema.EventType]int {
	w.Helper()
	out := map[string]map[schema.EventType]int{}
	err := sqlstore.Each(view, func(row sqlstore.Scanner) error {
		var envelope []byte
		if err := row.Scan(&envelope); err != nil {
			return err
		}
		var e struct {
			Type schema.EventType
			Data struct {
				TransactionID string `json:"transaction_id"`
			}
		}
		if err := json.Unmarshal(envelope, &e); err != nil {
			return err
		}
		of := out[e.Data.TransactionID]
		if of == nil {
			of = map[schema.EventType]int{}
			out[e.Data.TransactionID] = of
		}
		of[e.Type]++
		if e.Type == schema.EventRechargePending && of[e.Type] > 1 {
			w.Errorf("%s has two pending events", e.Data.TransactionID)
		}
		return nil
	}, "SELECT envelope FROM event WHERE type LIKE 'recharge.%'")
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// batches checks that every record of every batch is exactly one recharge.
func (w *rechargeHarness) batches(view sqlstore.View) {
	w.Helper()
	var batches, total, items, recharges, counted int
	for query, into := range map[string]*int{
		"SELECT count(*) FROM batch":                               &batches,
		"SELECT coalesce(sum(total), 0) FROM batch":                &total,
		"SELECT coalesce(sum(successful + failed), 0) FROM batch":  &counted,
		"SELECT count(*) FROM batch_item WHERE outcome <> 'begun'": &items,
		"SELECT count(*) FROM recharge WHERE batch_id <> ''":       &recharges,
	} {
		if err := view.QueryRow(query).Scan(into); err != nil {
			w.Fatal(err)
		}
	}
	switch {
	case batches == 0:
		w.Error("batches is 0")
	case items != total:
		w.Errorf("items = %v, want %v", items, total)
	case counted != total:
		w.Errorf("counted = %v, want %v", counted, total)
	case recharges != total:
		w.Errorf("recharges = %v, want %v", recharges, total)
	}
}
