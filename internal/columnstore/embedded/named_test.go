package embedded_test

import (
	"net/http"
	"strings"
	"testing"

	"vayu/internal/columnstore/columnstoretest"
)

// steps runs statements in one session, each with further URL parameters, and compares the results.
type step struct {
	parameters []string
	body, want string
}

func TestSessionKeepsState(t *testing.T) {
	t.Parallel()
	db := columnstoretest.Database(t, columnstoretest.New(t))
	for name, steps := range map[string][]step{
		"temporary table": {
			{nil, "CREATE TEMPORARY TABLE t (a Int32)", ""},
			{nil, "INSERT INTO t VALUES (1)", ""},
			{nil, "INSERT INTO t FORMAT CSV\n2\n3\n", ""},
			{nil, "SELECT sum(a) FROM t", "6\n"},
			{nil, "DROP TEMPORARY TABLE t", ""},
		},
		"SET": {
			{nil, "SET max_block_size = 7", ""},
			{nil, "SELECT getSetting('max_block_size')", "7\n"},
			{[]string{"max_block_size", "9"}, "SELECT getSetting('max_block_size')", "9\n"},
			{[]string{"max_block_size", "9"}, "SELECT getSetting('max_block_size')", "9\n"},
			{nil, "SELECT getSetting('max_block_size')", "7\n"},
			{[]string{"max_block_size", "9"}, "SET max_block_size = 11", ""},
			{nil, "SELECT getSetting('max_block_size')", "11\n"},
		},
		"a wrong setting": {
			{nil, "SET max_block_size = 7", ""},
			{[]string{"max_block_size", "9", "wrong", "1"}, "SELECT 1", "UNKNOWN_SETTING"},
			{nil, "SELECT getSetting('max_block_size') FORMAT JSONEachRow", `{"getSetting('max_block_size')":7}` + "\n"},
			{[]string{"max_block_size", "9"}, "SELECT getSetting('max_block_size')", "9\n"},
			{nil, "SELECT getSetting('max_block_size')", "7\n"},
		},
		"after an error": {
			{nil, "SET max_block_size = 7", ""},
			{nil, "SELECT throwIf(number = 5) FROM numbers(10) FORMAT JSON", "throwIf"},
			{nil, "SELECT getSetting('max_block_size')", "7\n"},
			{nil, "SELECT nothing", "nothing"},
			{nil, "SELECT 1 AS a FORMAT JSONEachRow", "{\"a\":1}\n"},
		},
		"database": {
			{nil, "USE default", ""},
			{nil, "SELECT currentDatabase()", "default\n"},
			{[]string{"database", "system"}, "SELECT currentDatabase()", "system\n"},
			{nil, "SELECT currentDatabase()", "default\n"},
			{nil, "USE system", ""},
			{nil, "SELECT currentDatabase()", "system\n"},
			{[]string{"database", "default"}, "SELECT currentDatabase()", "default\n"},
			{nil, "SELECT currentDatabase()", "system\n"},
		},
		"formats": {
			{nil, "SELECT 1 AS a FORMAT JSONCompactColumns", "[\n\t[1]\n]\n"},
			{nil, "SELECT 1 AS a FORMAT CSVWithNames", "\"a\"\n1\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := strings.ReplaceAll(t.Name(), " ", "") + db
			for _, s := range steps {
				for user, send := range map[string]func(*testing.T, string, []string) string{"admin": asAdmin, "analyst": asAnalyst} {
					got := send(t, s.body, append([]string{"session_id", id}, s.parameters...))
					if got != s.want && (s.want == "" || strings.HasSuffix(s.want, "\n") || !strings.Contains(got, s.want)) {
						t.Errorf("%s: %s: got %q, want %q", user, s.body, got, s.want)
					}
				}
			}
		})
	}
}

func asAdmin(t *testing.T, body string, parameters []string) string {
	t.Helper()
	_, got := ask(t, "POST", query(parameters...), strings.NewReader(body))
	return got
}

func asAnalyst(t *testing.T, body string, parameters []string) string {
	t.Helper()
	_, got := askAnalyst(t, "POST", query(parameters...), strings.NewReader(body))
	return got
}

// A session is for one request at a time, and users do not share sessions.
func TestSessionHasOneUser(t *testing.T) {
	t.Parallel()
	values := query("session_id", t.Name())
	if reply, got := ask(t, "POST", values, strings.NewReader("CREATE TEMPORARY TABLE t AS SELECT 1")); reply.StatusCode != http.StatusOK {
		t.Fatalf("got %d %q", reply.StatusCode, got)
	}
	if reply, got := askAnalyst(t, "POST", values, strings.NewReader("SELECT * FROM t")); reply.StatusCode != http.StatusNotFound {
		t.Errorf("another user's table: got %d %q, want %d", reply.StatusCode, got, http.StatusNotFound)
	}
	if reply, got := ask(t, "POST", query("session_id", t.Name()+"2"), strings.NewReader("SELECT * FROM t")); reply.StatusCode != http.StatusNotFound {
		t.Errorf("another session's table: got %d %q, want %d", reply.StatusCode, got, http.StatusNotFound)
	}
}
