package main

import (
	"strings"
	"testing"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Lost events are replayed by the command while a service runs.
func TestLostEventsAreReplayed(t *testing.T) {
	t.Parallel()
	data, db, r := newRelayedStore(t)
	if out, err := command(t.Context(), "events", "fire", "--data", data, "--count", "3"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	fired := r.events(t, 3)
	if err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		_, err := tx.Exec(`INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
			VALUES ('wh', $1, 'live', 'https://example.com', 'payment.succeeded', 1, '', $2, '', 0, 1)`, fired[0].Account, []byte("secret"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	replay := func(more ...string) string {
		t.Helper()
		out, err := command(t.Context(), append([]string{"events", "replay", "--data", data, "--from", "1h", "--to", soon}, more...)...)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		_, rest, _ := strings.Cut(out, ": ")
		return rest
	}
	if got, want := replay(), "0 lack a delivery, 0 are replayed; left out 3 test events (--tests replays them, too)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := replay("--tests", "--dry-run", "--account", "default"), "3 lack a delivery; nothing was changed (--dry-run)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := replay("--tests", "--type", string(schema.EventPaymentSucceeded)); !strings.HasPrefix(got, "3 lack a delivery, 3 are replayed") {
		t.Errorf("got %q", got)
	}
	again := map[string]int{}
	for _, e := range r.events(t, 6) {
		again[e.ID]++
	}
	for _, e := range fired {
		if again[e.ID] != 2 {
			t.Errorf("%s came %d times, want twice", e.ID, again[e.ID])
		}
	}
}

func TestReplayRejectsInvalidFlags(t *testing.T) {
	t.Parallel()
	data, _, _ := newRelayedStore(t)
	for want, args := range map[string][]string{
		"--from: set the first time":          nil,
		"--from: \"yesterday\" is not a time": {"--from", "yesterday"},
		"--from: must be before --to":         {"--from", "10s"},
		"--from: events older than":           {"--from", "720h"},
		"--to: \"-1h\" is not a time":         {"--from", "1h", "--to", "-1h"},
		"there is no type":                    {"--from", "1h", "--type", "payment"},
		"there is no account \"x\"":           {"--from", "1h", "--account", "x"},
		"--rate: must be a number":            {"--from", "1h", "--rate", "-1"},
	} {
		if out, err := command(t.Context(), append([]string{"events", "replay", "--data", data}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q: %s", args, err, want, out)
		}
	}
}
