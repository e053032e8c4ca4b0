package connection

import (
	"database/sql"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// Statements beyond the limit run unprepared.
func TestPreparedStatementsAreBounded(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept := NewPrepared(conn)
	defer kept.Close()
	query := "SELECT 1"
	for range maxStatements + 10 {
		var one int
		if err := kept.QueryRowContext(t.Context(), query).Scan(&one); err != nil || one != 1 {
			t.Fatal(one, err)
		}
		query += " "
	}
	if len(kept.kept) != maxStatements {
		t.Errorf("%d statements are kept, want %d", len(kept.kept), maxStatements)
	}
}
