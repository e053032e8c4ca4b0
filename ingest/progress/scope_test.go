package progress_test

import (
	"testing"

	"vayu/ingest/progress"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// Instances with engines of their own have scopes of their own in a shared store.
func TestScopeBelongsToTheEngine(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	postgres, sqlite := sqlstoretest.Postgres(t), sqlstoretest.SQLite(t)
	id := func(embedded bool, data string) string {
		t.Helper()
		id, err := progress.Local(postgres, embedded, data)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if id(true, one) == "" || id(true, one) == id(true, two) {
		t.Errorf("the ids are %q and %q", id(true, one), id(true, two))
	}
	first := id(true, one)
	if again := id(true, one); again != first {
		t.Errorf("after a restart the id of the engine is %q, want %q", again, first)
	}
	if got := id(false, one); got != "" {
		t.Errorf("a shared ClickHouse has the id %q", got)
	}
	if got, err := progress.Local(sqlite, true, one); err != nil || got != "" {
		t.Errorf("a store of one process has the id %q, %v", got, err)
	}
	if got := progress.Scope(schema.Sandbox, ""); got != "sandbox" {
		t.Errorf("the scope of the sandbox is %q", got)
	}
	if got := progress.Scope(schema.Live, "x"); got != "live/x" {
		t.Errorf("the scope of an engine is %q", got)
	}
}
