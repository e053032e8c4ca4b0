package sqlstoretest

import (
	"context"
	"strings"
	"testing"

	"vayu/internal/sqlstore"
)

// Plan returns the query plan of a statement, with one step per line.
func Plan(tb testing.TB, db *sqlstore.DB, query string, args ...any) string {
	tb.Helper()
	explain, columns := "EXPLAIN QUERY PLAN ", 4
	if db.Name() == "postgres" {
		explain, columns = "EXPLAIN ", 1
	}
	var lines []string
	err := db.Update(context.Background(), func(tx *sqlstore.Tx) error { // not a View, because the explained statement may write
		lines = nil
		return sqlstore.Each(tx, func(row sqlstore.Scanner) error {
			cells := make([]any, columns)
			for i := range cells {
				cells[i] = new(string)
			}
			err := row.Scan(cells...)
			lines = append(lines, *cells[columns-1].(*string))
			return err
		}, explain+query, args...)
	})
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return strings.Join(lines, "\n")
}

// Exec runs one statement as a change.
func Exec(tb testing.TB, db *sqlstore.DB, statement string, args ...any) {
	tb.Helper()
	if err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
		_, err := tx.Exec(statement, args...)
		return err
	}); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}
