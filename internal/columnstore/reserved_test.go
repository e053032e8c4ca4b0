package columnstore_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/config"
)

// When all connections of clients are in use, the reserved ones still answer.
func TestReservedConnectionsAreIndependent(t *testing.T) {
	t.Parallel()
	address, password := columnstoretest.Access(t)
	c := columnstore.Config{DSN: config.DSN(fmt.Sprintf("http://default:%s@%s", password, address)), Connections: 1}
	db, err := columnstore.Open(c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = db.Conn().Close(), db.Reserved().Close() })
	long, end := context.WithCancel(t.Context())
	rows, err := db.Conn().Query(long, "SELECT number FROM numbers(1000000000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		end()
		_ = rows.Close()
	}()
	if !rows.Next() {
		t.Fatalf("no row: %v", rows.Err())
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := db.Conn().Ping(short); err == nil {
		t.Error("there was a second connection")
	}
	var one uint8
	if err := db.Reserved().QueryRow(t.Context(), "SELECT 1").Scan(&one); err != nil || one != 1 {
		t.Errorf("got %d, %v", one, err)
	}
}
