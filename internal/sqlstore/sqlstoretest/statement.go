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
	Update(tb, db, func(tx *sqlstore.Tx) error { // not a View, because the explained statement may write
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
	return strings.Join(lines, "\n")
}

// Update runs a change in a transaction.
func Update(tb testing.TB, db *sqlstore.DB, change func(tx *sqlstore.Tx) error) {
	tb.Helper()
	if err := db.Update(context.Background(), change); err != nil {
		tb.Fatal(err)
	}
}

// Exec runs one statement as a change.
func Exec(tb testing.TB, db *sqlstore.DB, statement string, args ...any) {
	tb.Helper()
	err := db.Update(context.Background(), func(tx *sqlstore.Tx) error { _, err := tx.Exec(statement, args...); return err })
	if err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}

// Value returns the value that a query selects.
func Value[T any](tb testing.TB, db *sqlstore.DB, query string, args ...any) (value T) {
	tb.Helper()
	if err := db.View(context.Background()).QueryRow(query, args...).Scan(&value); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return value
}
