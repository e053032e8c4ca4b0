package state_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"vayu/internal/config"
	"vayu/internal/state"
	"vayu/internal/state/statetest"
)

// TestACommitThatComesLateIsNotDone: when the client was told that nothing was changed, nothing is.
func TestACommitThatComesLateIsNotDone(t *testing.T) {
	t.Parallel()
	dsn, hold, deliver := delay(t, statetest.PostgresDSN(t))
	db := statetest.Open(t, state.Config{DSN: dsn})
	// What the change has done so far stays locked until it is delivered; so it does nothing that others wait for.
	err := db.Update(t.Context(), func(tx *state.Tx) error {
		defer hold() // the next word is COMMIT
		return set(tx, "a", "1")
	})
	if !unavailable(err) || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("got %v, want service_unavailable and that nothing was changed", err)
	}
	deliver()
	wantSettings(t, db)
	update(t, db, func(tx *state.Tx) error { return set(tx, "a", "2") })
	wantSettings(t, db, "a=2")
}

// TestTheOnlyConnectionIsNoObstacle to asking what became of its change.
func TestTheOnlyConnectionIsNoObstacle(t *testing.T) {
	t.Parallel()
	dsn, cut := proxy(t, statetest.PostgresDSN(t))
	db := statetest.Open(t, state.Config{DSN: dsn, Connections: 1})
	update(t, db, func(tx *state.Tx) error {
		cut := cut
		defer cut() // the next answer is that to COMMIT
		return set(tx, "a", "1")
	})
	wantSettings(t, db, "a=1")
}

// TestAnOutcomeThatNobodyKnowsIsSaid.
func TestAnOutcomeThatNobodyKnowsIsSaid(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(string(statetest.PostgresDSN(t)))
	if err != nil {
		t.Fatal(err)
	}
	relay := newRelay(t, address.Host)
	address.Host = relay.listener.Addr().String()
	db := statetest.Open(t, state.Config{DSN: config.DSN(address.String())})
	db.SetAsking(50 * time.Millisecond)
	err = db.Update(t.Context(), func(tx *state.Tx) error {
		defer relay.leave()
		return set(tx, "a", "1")
	})
	if !unavailable(err) || !strings.Contains(err.Error(), "it is not known whether") {
		t.Errorf("got %v, want service_unavailable and that it is not known", err)
	}
}

// TestProofsAreFewAndGoAway: a change that changed nothing leaves none, and old ones are deleted.
func TestProofsAreFewAndGoAway(t *testing.T) {
	t.Parallel()
	db := statetest.Postgres(t)
	wantProofs := func(want int) {
		t.Helper()
		var got int
		if err := db.View(t.Context()).QueryRow("SELECT count(*) FROM commit_proof WHERE undone = 0").Scan(&got); err != nil || got != want {
			t.Errorf("there are %d proofs (%v), want %d", got, err, want)
		}
	}
	update(t, db, func(tx *state.Tx) error {
		_, err := tx.Exec("UPDATE setting SET value = '' WHERE name = 'nobody'")
		return err
	})
	wantProofs(0)
	for range 3 {
		update(t, db, func(tx *state.Tx) error { return set(tx, "a", "1") })
	}
	wantProofs(3)
	db.Sweep(t.Context(), time.Hour)
	wantProofs(3)
	db.Sweep(t.Context(), -time.Hour) // all are older than that
	wantProofs(0)
}
