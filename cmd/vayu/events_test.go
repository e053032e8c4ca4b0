package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/outbox"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// command runs a command in this process, as main does.
func command(ctx context.Context, args ...string) (out string, err error) {
	root := newRoot()
	var output bytes.Buffer
	root.SetOut(&output)
	root.SetErr(&output)
	root.SetArgs(args)
	err = root.ExecuteContext(ctx)
	return output.String(), err
}

// receiver is a publisher that keeps its events.
type receiver struct {
	mu   sync.Mutex
	all  []outbox.Event
	came chan struct{} // holds one
}

// Publish implements outbox.Publisher.
func (r *receiver) Publish(_ context.Context, batch []outbox.Event) ([]outbox.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, batch...)
	select {
	case r.came <- struct{}{}:
	default:
	}
	return batch, nil
}

// events waits for n events.
func (r *receiver) events(t *testing.T, n int) []outbox.Event {
	t.Helper()
	for {
		r.mu.Lock()
		all := slices.Clone(r.all)
		r.mu.Unlock()
		if len(all) >= n {
			return all
		}
		select {
		case <-r.came:
		case <-time.After(5 * time.Minute):
			t.Fatalf("%d of %d events came", len(all), n)
		}
	}
}

// Check implements outbox.Publisher.
func (r *receiver) Check(context.Context) error { return nil }

// newRelayedStore makes a data directory with the default account, and relays its
// events.
func newRelayedStore(t *testing.T) (data string, db *sqlstore.DB, r *receiver) {
	t.Helper()
	data, r = t.TempDir(), &receiver{came: make(chan struct{}, 1)}
	db = sqlstoretest.Open(t, sqlstore.Config{Data: data})
	if out, err := command(t.Context(), "account", "create", "default", "--data", data); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o := outbox.New(outbox.Config{DB: db})
	fixture.Run(t, func(ctx context.Context) error { return o.Run(ctx, r) })
	return data, db, r
}

func TestFiredEventsAreRelayed(t *testing.T) {
	t.Parallel()
	data, _, r := newRelayedStore(t)
	out, err := command(t.Context(), "events", "fire", "--data", data, "--count", "20", "--rate", "1000", "--type", "quota.warning", "--mode", "sandbox")
	if err != nil || out != "committed 20 events (sandbox, quota.warning; webhooks: 0 live, 0 sandbox)\n" {
		t.Fatalf("got %v: %s", err, out)
	}
	var numbers []int
	for _, e := range r.events(t, 20) {
		var envelope struct {
			Type schema.EventType
			Data struct {
				Test      bool
				N         int
				Threshold int
			}
		}
		if err := json.Unmarshal(e.Envelope, &envelope); err != nil {
			t.Fatal(err)
		}
		switch {
		case envelope.Type != schema.EventQuotaWarning:
			t.Errorf("%s: envelope.Type = %v, want %v", e.Envelope, envelope.Type, schema.EventQuotaWarning)
		case !envelope.Data.Test:
			t.Errorf("%s: envelope.Data.Test is false", e.Envelope)
		case envelope.Data.Threshold != 80:
			t.Errorf("%s: envelope.Data.Threshold = %v, want 80", e.Envelope, envelope.Data.Threshold)
		case e.World != schema.Sandbox:
			t.Errorf("%s: e.World = %v, want %v", e.Envelope, e.World, schema.Sandbox)
		}
		numbers = append(numbers, envelope.Data.N)
	}
	slices.Sort(numbers)
	want := make([]int, 20)
	for i := range want {
		want[i] = i + 1
	}
	if diff := cmp.Diff(want, numbers); diff != "" {
		t.Errorf("the numbers: %s", diff)
	}
}

func TestInterruptedFireReportsCommittedEvents(t *testing.T) {
	t.Parallel()
	data, db, r := newRelayedStore(t)
	ctx, interrupt := context.WithCancel(t.Context())
	type outcome struct {
		out string
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		out, err := command(ctx, "events", "fire", "--data", data, "--count", "0", "--rate", "500")
		ended <- outcome{out, err}
	}()
	r.events(t, 50)
	interrupt()
	got := <-ended
	var stored int
	if err := db.View(t.Context()).QueryRow("SELECT count(*) FROM event").Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("committed %d events (live, payment.succeeded; webhooks: 0 live, 0 sandbox)\n", stored); got.err != nil || got.out != want {
		t.Errorf("got %v: %s want %s", got.err, got.out, want)
	}
	if stored < 50 {
		t.Errorf("%d events are stored, want at least 50", stored)
	}
	if out, err := command(ctx, "events", "fire", "--data", data); err != nil || out != "committed 0 events\n" {
		t.Errorf("interrupted before it began: %v: %s", err, out)
	}
}

func TestFireRejectsInvalidFlags(t *testing.T) {
	t.Parallel()
	data, _, _ := newRelayedStore(t)
	for flags, want := range map[string]string{
		"--account missing": `there is no account "missing"; vayu account list shows`,
		"--type x":          "there is no type \"x\"; there are recharge.completed, recharge.failed",
		"--mode tset":       "neither live nor sandbox",
		"--count -1":        "--count",
		"--rate -1":         "--rate",
		"--rate NaN":        "--rate",
		"--rate +Inf":       "--rate",
		"--data /none/such": "there is no data directory",
	} {
		args := append([]string{"events", "fire", "--data", data}, strings.Fields(flags)...)
		if out, err := command(t.Context(), args...); err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%s: got %v and %q, want %s", flags, err, out, want)
		}
	}
}
