package dump_test

import (
	"strings"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/dump"
	"vayu/internal/sqlstore/sqlstoretest"
)

// CheckEmpty returns the error of Load before any work is done.
func TestCheckEmpty(t *testing.T) {
	t.Parallel()
	old := sqlstore.Config{Data: t.TempDir(), Version: 1}
	db, stop := sqlstoretest.Start(t, old)
	dir, _ := write(t, db)
	stop()
	now, _ := write(t, sqlstoretest.SQLite(t))
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
		t.Run(name, func(t *testing.T) {
			err := dump.CheckEmpty(t.Context(), c.at, c.dump, nil)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
