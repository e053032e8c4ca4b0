package sqlstore_test

import (
	"context"
	"strings"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// CheckEmpty returns the error of Load before any work is done.
func TestCheckEmpty(t *testing.T) {
	t.Parallel()
	old := sqlstore.Config{Data: t.TempDir()}
	var dir string
	if err := sqlstore.WithStore(t.Context(), old, 1, func(_ context.Context, db *sqlstore.DB) error {
		dir, _ = dump(t, db)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	now, _ := dump(t, sqlstoretest.SQLite(t))
	empty, made, taken := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}
	sqlstoretest.Open(t, made)
	populate(t, sqlstoretest.Open(t, taken))
	for name, c := range map[string]struct {
		at   sqlstore.Config
		dump string
		want string // in the error; empty for none
	}{
		"no tables":                {empty, dir, ""},
		"tables without accounts":  {made, now, ""},
		"newer tables":             {made, dir, "where no store is yet"},
		"occupied":                 {taken, now, "250 accounts"},
		"a directory":              {sqlstore.Config{Data: t.TempDir()}, now, ""},
		"a dump that is not there": {empty, dir + "x", "manifest"},
		"an unsupported scheme":    {sqlstore.Config{DSN: "mysql://127.0.0.1/"}, now, "postgres://"},
	} {
		err := sqlstore.CheckEmpty(t.Context(), c.at, c.dump, nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
