//go:build integration

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vayu/internal/pause"
	"vayu/internal/state"
	"vayu/internal/state/statetest"
	"vayu/pipeline/recharge/simulator"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// badWorld is a service of some instances, and an operator who carries out every
// order as often as it comes and does half of what can go wrong.
type badWorld struct {
	*testing.T

	operator  *simulator.Simulator
	instances []*instance
	ports     []string // where they serve, which does not change
	key       string   // live
	store     state.Config
}

// instance is a process, or the one that takes its place.
type instance struct {
	*serving

	data string
	args []string
}

// newBadWorld starts so many instances, several on one PostgreSQL, with a live account
// that can spend.
func newBadWorld(t *testing.T, instances int) *badWorld {
	t.Helper()
	w := &badWorld{T: t}
	for range instances {
		w.ports = append(w.ports, freePort(t))
	}
	w.operator = simulator.New(simulator.Config{
		Rates: map[simulator.Fault]float64{
			simulator.DropBefore: 0.06, simulator.Drop: 0.08, simulator.Delay: 0.05, simulator.Duplicate: 0.08, simulator.Late: 0.06,
			simulator.LateFailure: 0.04, simulator.LieFailed: 0.03, simulator.Page: 0.02, simulator.Broken: 0.03, simulator.Refuse: 0.05,
		},
		Noise: 0.05, Seed: 20261121, Late: 3 * time.Second, Slow: 700 * time.Millisecond, Naive: true,
		Callback: "http://" + w.ports[0] + "/callbacks/simulator",
	})
	file := filepath.Join(t.TempDir(), "operator.yaml")
	text := strings.NewReplacer("timeout: 5s", "timeout: 1s", "resend-after: 5s", "resend-after: 1s").Replace(simulator.Describe("http://" + w.operate()))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// Nothing here needs ClickHouse: one that is not there is not started 200 times.
	args := []string{"--recharge-operators", file, "--clickhouse", "http://127.0.0.1:1/"}
	stored := []string{}
	if instances > 1 {
		w.store.DSN = statetest.PostgresDSN(t)
		stored = []string{"--state", string(w.store.DSN)}
	}
	for i, port := range w.ports {
		one := &instance{data: t.TempDir(), args: slices.Concat(args, stored, []string{"--listen", port})}
		w.instances = append(w.instances, one)
		if i == 0 {
			w.key = newKey(t, one.data, "live", append(stored, "--plan", "unlimited", "--scopes", "all")...)
			w.credit(one.data, stored...)
		} else if err := copyFile(filepath.Join(w.instances[0].data, "encryption.key"), filepath.Join(one.data, "encryption.key")); err != nil {
			t.Fatal(err)
		}
		one.serving = start(t, one.data, one.args...)
	}
	if w.store.DSN == "" {
		w.store.Data = w.instances[0].data
	}
	return w
}

// credit gives the account enough for everything.
func (w *badWorld) credit(data string, stored ...string) {
	w.Helper()
	for n := range 5 {
		args := append([]string{"wallet", "credit", "--account", "default", "--amount", "1000000", "--note", fmt.Sprint("bank transfer ", n)}, stored...)
		if out, err := vayu(w.T, data, args...); err != nil {
			w.Fatalf("crediting the wallet: %v\n%s", err, out)
		}
	}
}

// operate has the operator serve at an address, where he is away for a moment now and
// then, and send his callbacks.
func (w *badWorld) operate() (address string) {
	w.Helper()
	address = freePort(w.T)
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() { _ = w.operator.Run(ctx) }) // it ends with ctx only
	listener := w.listen(address)
	parts.Go(func() {
		for ctx.Err() == nil {
			server := &http.Server{Handler: w.operator}
			served := make(chan error, 1)
			go func() { served <- server.Serve(listener) }()
			pause.For(ctx, time.Duration(2000+rand.IntN(3000))*time.Millisecond)
			_ = server.Close() // with what is under way
			<-served
			pause.For(ctx, 200*time.Millisecond)
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
		w.Errorf("the operator cannot listen: %v", err)
	}
	return l
}

// settle starts every instance for good, and waits until nothing is pending and all
// batches are done.
func (w *badWorld) settle() {
	w.Helper()
	for _, one := range w.instances {
		one.stop(syscall.SIGKILL)
	}
	w.hurry()
	for _, one := range w.instances {
		one.serving = start(w.T, one.data, one.args...)
	}
	one := w.instances[0]
	nothing := func(r reply) bool {
		data, listed := r.body["data"].([]any)
		return listed && len(data) == 0
	}
	one.eventually(w.key, "/v1/recharge/batch?state=queued&limit=1", nothing)
	one.eventually(w.key, "/v1/recharge/batch?state=processing&limit=1", nothing)
	one.eventually(w.key, "/v1/recharge?status=pending&limit=1", nothing)
	one.eventually(w.key, "/v1/wallet", func(r reply) bool { return r.body["held"] == 0.0 })
}

// hurry makes what is pending due, however long the pauses between its enquiries have
// become: the operator leaves every fourth of them without an answer.
func (w *badWorld) hurry() {
	w.Helper()
	db, stop := statetest.Start(w.T, w.store)
	defer stop()
	statetest.Exec(w.T, db, "UPDATE recharge SET due_at = created_at, tries = 0 WHERE due_at IS NOT NULL AND token = ''")
}

// reconcile compares the day with the operator's file, which is the only way to learn
// that he has carried out what he said had failed.
func (w *badWorld) reconcile() {
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

// fate is a recharge at the end.
type fate struct{ id, ref, state, reference, alarm string }

// check stops the service and looks at what is left.
func (w *badWorld) check(c *clients) {
	w.Helper()
	for _, one := range w.instances {
		one.stop(syscall.SIGTERM)
	}
	for _, fault := range c.wrong {
		w.Error(fault)
	}
	db := statetest.Open(w.T, w.store)
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
	want, done := map[schema.EventType]int{}, 1
	switch schema.RechargeState(f.state) {
	case schema.RechargeSuccess:
		want[schema.EventRechargeCompleted] = 1
	case schema.RechargeRefunded:
		want[schema.EventRechargeCompleted], want[schema.EventRechargeRefunded] = 1, 1
	case schema.RechargeFailed:
		want[schema.EventRechargeFailed], done = 1, 0
		if f.alarm == "late_success" { // he lied, and nobody was charged
			done = 1
		}
	default:
		w.Errorf("%s stays %s", f.id, f.state)
		return
	}
	if effects != done {
		w.Errorf("%s is %s with alarm %q, and the operator has carried it out %d times", f.id, f.state, f.alarm, effects)
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
