//go:build integration

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// breakUnit replaces the unit of PM2.5 in the description of the network by the field of a unit that no reply has, and
// returns a function that corrects it.
func breakUnit(t *testing.T, folder string) (fix func()) {
	t.Helper()
	path := filepath.Join(folder, "paging.yaml")
	right, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good, bad = "pm25: {value: pm25, unit: µg/m³}", "pm25: {value: pm25, unit-field: unit}"
	if !strings.Contains(string(right), good) {
		t.Fatalf("the description lacks %q:\n%s", good, right)
	}
	write(strings.Replace(string(right), good, bad, 1))
	return func() { write(string(right)) }
}

// A replay after a fix of the description has the rows of a backfill with the right description, also beyond the hundred
// records of a reason that a run keeps.
func TestIntegrationReplayAfterFixEqualsCleanBackfill(t *testing.T) {
	t.Parallel()
	want, _ := cleanBackfill(t)
	network, data := newPagingNetwork(t), t.TempDir()
	flags := network.describe(t, "")
	fix := breakUnit(t, flags[1])
	if out, err := vayu(t, data, backfillArgs(flags)...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if tables(t, data) == want {
		t.Fatal("the broken description stores the same rows")
	}
	replay := slices.Concat([]string{"source", "replay", "paging", "--from", backfillFrom}, flags)
	if out, err := vayu(t, data, append(replay, "--reason", "bad_number")...); err != nil || !strings.HasPrefix(out, "0 runs of paging") {
		t.Errorf("a replay of another reason: %v\n%s", err, out)
	}
	fix()
	out, err := vayu(t, data, append(replay, "--reason", "unknown_unit")...)
	if err != nil || !strings.Contains(out, ": done") {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(out)
	if got := tables(t, data); got != want {
		t.Errorf("after the replay:\n%s\nclean:\n%s\nthe replay printed:\n%s", got, want, out)
	}
}
