package sqlstore_test

import (
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// others asks a store who else uses it.
func others(t *testing.T, db *sqlstore.DB) (n int64) {
	t.Helper()
	if err := db.Update(t.Context(), func(tx *sqlstore.Tx) (err error) {
		n, err = tx.Others()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAnInstanceKnowsThatItIsNotAlone(t *testing.T) {
	t.Parallel()
	if n := others(t, sqlstoretest.SQLite(t)); n != 0 {
		t.Errorf("a directory has %d others, and belongs to one", n)
	}
	c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}
	db, second := sqlstoretest.Open(t, c), sqlstoretest.Open(t, c)
	if err := second.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := others(t, db); n == 0 {
		t.Error("the other instance is not seen")
	}
}
