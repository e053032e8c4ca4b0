package columnstoretest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Inserts records the INSERT requests of a connection, with their settings.
type Inserts struct {
	next http.RoundTripper
	mu   sync.Mutex
	all  []url.Values
}

// RecordInserts opens a connection to the engine of [New]. The returned Inserts records the inserts of that connection.
func RecordInserts(tb testing.TB) (driver.Conn, *Inserts) {
	tb.Helper()
	address, password := Access(tb)
	seen := new(Inserts)
	conn, err := clickhouse.Open(&clickhouse.Options{
		Protocol: clickhouse.HTTP, Addr: []string{address}, Auth: clickhouse.Auth{Username: "default", Password: password},
		Settings: clickhouse.Settings{"final": 0}, // the same setting as that of columnstore.Open
		TransportFunc: func(next *http.Transport) (http.RoundTripper, error) {
			seen.next = next
			return seen, nil
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	return conn, seen
}

// RoundTrip sends a request and records the request if it is an INSERT. It implements http.RoundTripper.
func (s *Inserts) RoundTrip(q *http.Request) (*http.Response, error) {
	if values := q.URL.Query(); strings.HasPrefix(values.Get("query"), "INSERT") {
		s.mu.Lock()
		s.all = append(s.all, values)
		s.mu.Unlock()
	}
	return s.next.RoundTrip(q)
}

// Check fails the test unless there was exactly one insert into each of `tables`, and none into another table. Each
// insert must have a unique token. Its settings must make a cluster store the rows before it acknowledges the insert.
func (s *Inserts) Check(tb testing.TB, tables ...string) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var tokens, into []string
	for _, values := range s.all {
		query := values.Get("query")
		table := strings.Trim(strings.Fields(query)[2], "`")
		into = append(into, table[strings.LastIndexAny(table, ".`")+1:])
		token := values.Get("insert_deduplication_token")
		if token == "" {
			tb.Errorf("%s: there is no token", query)
		}
		if slices.Contains(tokens, token) {
			tb.Errorf("%s: the token %q is not unique", query, token)
		}
		tokens = append(tokens, token)
		for setting, want := range map[string]string{"distributed_foreground_insert": "1", "async_insert": "0", "insert_deduplicate": "1", "max_partitions_per_insert_block": "0"} {
			if got := values.Get(setting); got != want {
				tb.Errorf("%s: %s=%q, want %q", query, setting, got, want)
			}
		}
	}
	slices.Sort(into)
	slices.Sort(tables)
	if !slices.Equal(into, tables) {
		tb.Errorf("inserts into %q, want %q", into, tables)
	}
}
