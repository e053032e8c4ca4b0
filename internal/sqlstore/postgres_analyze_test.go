package sqlstore_test

import (
	"fmt"
	"strings"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
)

// The planner of PostgreSQL chooses an index for a new table only if the table has statistics. Autovacuum would wait a
// minute.
func TestGrownTableGetsStatistics(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.Postgres(t)
	analyzed := func() (n float64) {
		if err := db.View(t.Context()).QueryRow("SELECT reltuples FROM pg_class WHERE oid = 'setting'::regclass").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := analyzed(); n > 0 {
		t.Fatalf("a new table has statistics of %g rows", n)
	}
	fill := func(tx *sqlstore.Tx) error {
		if _, err := tx.Exec("ALTER TABLE setting SET (autovacuum_enabled = false)"); err != nil {
			return err
		}
		for i := range 300 {
			if err := set(tx, fmt.Sprintf("name %d", i), strings.Repeat("x", 200)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := db.Update(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	fixture.Eventually(t, "the table is analyzed", func() bool { return analyzed() >= 300 })
}
