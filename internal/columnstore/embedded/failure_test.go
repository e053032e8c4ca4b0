package embedded_test

import (
	"net/http"
	"strings"
	"testing"

	"vayu/internal/columnstore/columnstoretest"
)

// The engine buffers the output of a failed query, and prepends it to the next result of the connection.
func TestFailedResultDoesNotLeakIntoNext(t *testing.T) {
	t.Parallel()
	database := columnstoretest.Database(t, columnstoretest.New(t))
	for name, c := range map[string]struct{ format, wait, threads, want string }{
		"document": {"RowBinaryWithNames", "0", "1", "\x01\x01n\x07"},
		"awaited":  {"RowBinary", "1", "2", "\x07"},
		"streamed": {"RowBinary", "0", "3", "\x07"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The settings are unique to this test, so that both queries use the same connection.
			values := query("database", database, "wait_end_of_query", c.wait, "default_format", c.format, "max_insert_threads", c.threads)
			_, failed := ask(t, "POST", values, strings.NewReader("SELECT throwIf(number = 900000) AS n FROM numbers(1000000)"))
			if !strings.Contains(failed, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO") {
				t.Fatalf("the query ended with %d bytes and no error", len(failed))
			}
			reply, got := ask(t, "POST", values, strings.NewReader("SELECT 7::UInt8 AS n"))
			if reply.StatusCode != http.StatusOK || got != c.want {
				t.Errorf("got %d, %d bytes %.20q; want %q", reply.StatusCode, len(got), got, c.want)
			}
		})
	}
}
