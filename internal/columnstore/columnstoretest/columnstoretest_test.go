package columnstoretest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/columnstoretest"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// TestMigratedRepairsTheDatabaseOfAnEarlierTest changes tables and rows of a database. The next test gets the database
// with the tables of the migrations and without rows.
func TestMigratedRepairsTheDatabaseOfAnEarlierTest(t *testing.T) {
	db := columnstoretest.New(t)
	contents := func(name string) (all []string) {
		t.Helper()
		if err := db.Conn().QueryRow(t.Context(), `SELECT arraySort(groupArray((create_table_query, total_rows)::String)) FROM system.tables WHERE database = ?`,
			name).Scan(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	var first string
	var want []string
	t.Run("earlier", func(t *testing.T) {
		first = columnstoretest.Migrated(t, db)
		want = contents(first)
		for _, s := range []string{
			"INSERT INTO %s.station (id) VALUES ('a')", "INSERT INTO %s.migration (version) VALUES (10000)", "ALTER TABLE %s.city_hour DROP COLUMN o3",
			"DROP TABLE %s.withdrawal", "DROP TABLE %s.daily", "CREATE TABLE %s.other (a Int8) ENGINE = Memory",
		} {
			if err := db.Conn().Exec(t.Context(), strings.ReplaceAll(s, "%s", first)); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("later", func(t *testing.T) {
		if second := columnstoretest.Migrated(t, db); second != first {
			t.Fatalf("got the database %s, want that of the earlier test, %s", second, first)
		}
		if diff := cmp.Diff(want, contents(first)); diff != "" {
			t.Error(diff)
		}
	})
}
