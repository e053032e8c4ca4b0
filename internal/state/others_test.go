package state_test

import (
	"testing"

	"vayu/internal/state"
	"vayu/internal/state/statetest"
)

// others asks a store who else uses it.
func others(t *testing.T, db *state.DB) (n int64) {
	t.Helper()
	if err := db.Update(t.Context(), func(tx *state.Tx) (err error) {
		n, err = tx.Others()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAnInstanceKnowsThatItIsNotAlone(t *testing.T) {
	t.Parallel()
	if n := others(t, statetest.SQLite(t)); n != 0 {
		t.Errorf("a directory has %d others, and belongs to one", n)
	}
	c := state.Config{DSN: statetest.PostgresDSN(t)}
	db, second := statetest.Open(t, c), statetest.Open(t, c)
	if err := second.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := others(t, db); n == 0 {
		t.Error("the other instance is not seen")
	}
}
