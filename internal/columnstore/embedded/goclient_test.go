package embedded_test

import (
	"errors"
	"testing"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore/columnstoretest"
)

// TestGoClientAsAnalyst uses clickhouse-go over HTTP at its defaults.
func TestGoClientAsAnalyst(t *testing.T) {
	t.Parallel()
	fill(t)
	address, password := columnstoretest.AnalystAccess(t)
	conn, err := clickhouse.Open(&clickhouse.Options{
		Protocol: clickhouse.HTTP, Addr: []string{address}, Auth: clickhouse.Auth{Username: "analyst", Password: password, Database: "vayu"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var rows uint64
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM reading WHERE id < {id:UInt32}", clickhouse.Named("id", "5")).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows != 5 {
		t.Errorf("got %d rows, want 5", rows)
	}
	for statement, want := range map[string]int32{
		"DROP TABLE reading": 497, "INSERT INTO reading (id, version) SELECT 1, 3": 497, "SELECT account_id FROM attempt": 497,
	} {
		err := conn.Exec(t.Context(), statement)
		refusal, ok := errors.AsType[*clickhouse.Exception](err)
		if !ok {
			t.Errorf("%s: got %v, want an exception", statement, err)
			continue
		}
		if refusal.Code != want {
			t.Errorf("%s: got the code %d, want %d", statement, refusal.Code, want)
		}
	}
}
