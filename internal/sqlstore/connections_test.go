package sqlstore_test

import (
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// otherConnections returns the number of other connections to a store.
func otherConnections(t *testing.T, db *sqlstore.DB) (n int64) {
	t.Helper()
	if err := db.Update(t.Context(), func(tx *sqlstore.Tx) (err error) {
		n, err = tx.OtherConnections()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOtherConnectionsCountsInstances(t *testing.T) {
	t.Parallel()
	if n := otherConnections(t, sqlstoretest.SQLite(t)); n != 0 {
		t.Errorf("got %d other connections to a directory, want 0", n)
	}
	c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}
	db, second := sqlstoretest.Open(t, c), sqlstoretest.Open(t, c)
	if err := second.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := otherConnections(t, db); n == 0 {
		t.Error("the other instance is not counted")
	}
}
