package state_test

import (
	"context"
	"strings"
	"testing"

	"vayu/internal/state"
	"vayu/internal/state/statetest"
)

// What Load would refuse at its end is refused before anything else is done.
func TestAPlaceForADumpIsVacant(t *testing.T) {
	t.Parallel()
	old := state.Config{Data: t.TempDir()}
	var dir string
	if err := state.Opened(t.Context(), old, 1, func(_ context.Context, db *state.DB) error {
		dir, _ = dump(t, db)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	now, _ := dump(t, statetest.SQLite(t))
	empty, made, taken := state.Config{DSN: statetest.PostgresDSN(t)}, state.Config{DSN: statetest.PostgresDSN(t)}, state.Config{DSN: statetest.PostgresDSN(t)}
	statetest.Open(t, made)
	populate(t, statetest.Open(t, taken))
	for name, c := range map[string]struct {
		at   state.Config
		dump string
		want string // in the error; empty for none
	}{
		"no tables":                 {empty, dir, ""},
		"tables without accounts":   {made, now, ""},
		"newer tables":              {made, dir, "where no store is yet"},
		"somebody's":                {taken, now, "250 accounts"},
		"a directory":               {state.Config{Data: t.TempDir()}, now, ""},
		"a dump that is not there":  {empty, dir + "x", "manifest"},
		"an address of nobody here": {state.Config{DSN: "mysql://127.0.0.1/"}, now, "postgres://"},
	} {
		err := state.Vacant(t.Context(), c.at, c.dump, nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
