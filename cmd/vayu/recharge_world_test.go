//go:build integration

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vayu/internal/state"
	"vayu/internal/state/statetest"
	"vayu/pipeline/recharge/simulator"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// badWorld is a service, its data, and an operator who carries out every order as
// often as it comes and does half of what can go wrong.
type badWorld struct {
	*serving

	operator *simulator.Simulator
	args     []string
	key      string // live, whichever process serves
}

// newBadWorld starts the service with a live account that can spend.
func newBadWorld(t *testing.T) *badWorld {
	t.Helper()
	data, port := t.TempDir(), freePort(t)
	w := &badWorld{operator: simulator.New(simulator.Config{
		Rates: map[simulator.Fault]float64{
			simulator.DropBefore: 0.06, simulator.Drop: 0.08, simulator.Delay: 0.05, simulator.Duplicate: 0.08, simulator.Late: 0.06,
			simulator.LateFailure: 0.04, simulator.LieFailed: 0.03, simulator.Page: 0.02, simulator.Broken: 0.03, simulator.Refuse: 0.05,
		},
		Noise: 0.05, Seed: 20261121, Late: 3 * time.Second, Slow: 700 * time.Millisecond, Naive: true,
		Callback: "http://" + port + "/callbacks/simulator",
	})}
	server := httptest.NewServer(w.operator)
	t.Cleanup(server.Close)
	telling, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.operator.Run(telling) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	file := filepath.Join(t.TempDir(), "operator.yaml")
	text := strings.NewReplacer("timeout: 5s", "timeout: 1s", "resend-after: 5s", "resend-after: 1s").Replace(simulator.Describe(server.URL))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// Nothing here needs ClickHouse: one that is not there is not started 200 times.
	w.args = []string{"--recharge-operators", file, "--listen", port, "--clickhouse", "http://127.0.0.1:1/"}
	w.serving = serve(t, data, w.args...)
	w.key = w.live
	for n := range 5 {
		if out, err := vayu(t, data, "wallet", "credit", "--account", "default", "--amount", "1000000", "--note", fmt.Sprint("bank transfer ", n)); err != nil {
			t.Fatalf("crediting the wallet: %v\n%s", err, out)
		}
	}
	return w
}

// settle waits until nothing is pending and all batches are done.
func (w *badWorld) settle() {
	w.Helper()
	nothing := func(r reply) bool {
		data, listed := r.body["data"].([]any)
		return listed && len(data) == 0
	}
	w.eventually(w.key, "/v1/recharge/batch?state=queued&limit=1", nothing)
	w.eventually(w.key, "/v1/recharge/batch?state=processing&limit=1", nothing)
	w.eventually(w.key, "/v1/recharge?status=pending&limit=1", nothing)
	w.eventually(w.key, "/v1/wallet", func(r reply) bool { return r.body["held"] == 0.0 })
}

// fate is a recharge at the end.
type fate struct{ id, ref, state, reference, alarm string }

// check stops the service and looks at what is left.
func (w *badWorld) check(c *clients) {
	w.Helper()
	w.stop(syscall.SIGTERM)
	for _, fault := range c.wrong {
		w.Error(fault)
	}
	db := statetest.Open(w.T, state.Config{Data: w.data})
	view := db.View(w.Context())
	report, err := wallet.Verify(w.Context(), db, "")
	if err != nil {
		w.Fatal(err)
	}
	for _, fault := range report.Faults {
		w.Errorf("the books: %v", fault)
	}
	all, err := state.All(view, func(row state.Scanner) (f fate, err error) {
		err = row.Scan(&f.id, &f.ref, &f.state, &f.reference, &f.alarm)
		return f, err
	}, "SELECT id, ref_id, state, reference, alarm FROM recharge WHERE mode = 'live'")
	if err != nil {
		w.Fatal(err)
	}
	effects, told, states := w.operator.Effects(), w.told(view), map[string]int{}
	for _, f := range all {
		states[f.state]++
		w.one(f, effects[f.reference], told[f.id])
		if before := c.txns[f.ref]; before != "" && before != f.id {
			w.Errorf("%s is %s, and its client was told %s", f.ref, f.id, before)
		}
		delete(effects, f.reference)
		delete(c.txns, f.ref)
	}
	for reference, n := range effects {
		if n > 0 {
			w.Errorf("the operator has carried out %s, which nobody knows of", reference)
		}
	}
	for ref, txn := range c.txns {
		w.Errorf("%s was answered with %s, which is gone", ref, txn)
	}
	w.batches(view)
	w.Logf("%d recharges: %v", len(all), states)
}

// one looks at one recharge: what its operator did, and what its account was told.
func (w *badWorld) one(f fate, effects int, told map[schema.EventType]int) {
	w.Helper()
	want, done := map[schema.EventType]int{}, 0
	switch schema.RechargeState(f.state) {
	case schema.RechargeSuccess:
		want[schema.EventRechargeCompleted], done = 1, 1
	case schema.RechargeRefunded:
		want[schema.EventRechargeCompleted], want[schema.EventRechargeRefunded] = 1, 1
		done = 1
	case schema.RechargeFailed:
		want[schema.EventRechargeFailed] = 1
		done = effects // checked below
	default:
		w.Errorf("%s stays %s", f.id, f.state)
		return
	}
	if effects != done || effects > 1 {
		w.Errorf("%s is %s, and the operator has carried it out %d times", f.id, f.state, effects)
	}
	if f.alarm == "late_success" && effects == 0 {
		w.Errorf("%s has the alarm %s, and the operator has not carried it out", f.id, f.alarm)
	}
	delete(told, schema.EventRechargePending)
	for typ, n := range want {
		if told[typ] != n {
			w.Errorf("%s is %s, and %s was told %d times", f.id, f.state, typ, told[typ])
		}
		delete(told, typ)
	}
	if len(told) > 0 {
		w.Errorf("%s is %s, and was also told as %v", f.id, f.state, told)
	}
}

// told is how often each event of each recharge is in the store.
func (w *badWorld) told(view state.View) map[string]map[schema.EventType]int {
	w.Helper()
	out := map[string]map[schema.EventType]int{}
	err := state.Each(view, func(row state.Scanner) error {
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
			w.Errorf("%s was told twice that it is pending", e.Data.TransactionID)
		}
		return nil
	}, "SELECT envelope FROM event WHERE type LIKE 'recharge.%'")
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// batches looks whether every record of every batch is a recharge, once.
func (w *badWorld) batches(view state.View) {
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
	if batches == 0 || items != total || counted != total || recharges != total {
		w.Errorf("%d batches of %d records have %d items, %d recharges, and count %d", batches, total, items, recharges, counted)
	}
}
