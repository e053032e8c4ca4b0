package sqlstore_test

import (
	"slices"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// A query nested in itself sees its own rows, although its statement is cached. (PostgreSQL reads one result
// at a time.)
func TestQueryCanNestInItself(t *testing.T) {
	t.Parallel()
	const query = "SELECT name FROM setting ORDER BY name"
	var got []string
	err := sqlstoretest.SQLite(t).Update(t.Context(), func(tx *sqlstore.Tx) error {
		if _, err := tx.Exec("INSERT INTO setting (name, value) VALUES ('a', ''), ('b', '')"); err != nil {
			return err
		}
		return sqlstore.Each(tx, func(outer sqlstore.Scanner) error {
			var a string
			if err := outer.Scan(&a); err != nil {
				return err
			}
			return sqlstore.Each(tx, func(inner sqlstore.Scanner) error {
				var b string
				err := inner.Scan(&b)
				got = append(got, a+b)
				return err
			}, query)
		}, query)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"aa", "ab", "ba", "bb"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
