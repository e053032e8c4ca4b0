package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/state"
	"vayu/internal/state/statetest"
)

func TestEach(t *testing.T) {
	t.Parallel()
	statetest.Each(t, func(t *testing.T, db *state.DB) {
		if err := db.Update(t.Context(), func(tx *state.Tx) error {
			_, err := tx.Exec("INSERT INTO setting (name, value) VALUES ($1, $2)", "a", "b")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := db.View(t.Context()).QueryRow("SELECT value FROM setting WHERE name = $1", "a").Scan(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("b", got); diff != "" {
			t.Error(diff)
		}
	})
}
