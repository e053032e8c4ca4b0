package columnstore_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	engine "vayu/internal/columnstore/embedded"
	"vayu/internal/config"
)

// startFor starts an engine of one test, and returns a function that sends a statement of the user analyst in a session.
// More parameters of the URL can follow the name of the session.
func startFor(t *testing.T, change func(*columnstore.Config)) func(session, statement string) (status int, text string) {
	t.Helper()
	var data string
	columnstoretest.Start(t, func(cfg *columnstore.Config) {
		data = cfg.Data
		change(cfg)
	})
	address, password, err := engine.AnalystAccess(data)
	if err != nil {
		t.Fatal(err)
	}
	return func(session, statement string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/?session_id="+session, strings.NewReader(statement))
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("analyst", password)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, string(text)
	}
}

// Temporary tables outlive the queries that fill them, so the limit of a query's memory does not hold for them.
func TestTemporaryTablesHaveLimits(t *testing.T) {
	t.Parallel()
	ask := startFor(t, func(cfg *columnstore.Config) { cfg.Analysts.MaxTemporary = 40 * config.MiB })
	const of11MB = "INSERT INTO t SELECT number FROM numbers(1400000)"
	for _, c := range []struct{ session, statement, want string }{
		{"a", "CREATE TEMPORARY TABLE t (a UInt64)", ""},
		{"a", "SET additional_table_filters = '{''system.tables'': ''total_bytes < 10''}'", ""},
		{"a", of11MB, ""},
		{"a", "DROP TEMPORARY TABLE t", ""},
		{"a", "CREATE TEMPORARY TABLE t AS SELECT number AS a FROM numbers(1400000)", ""},
		{"a", of11MB, "The limit of one session is 20971520 bytes (engine.analysts.max-temporary)"},
		{"a", "SELECT count() FROM t", "UNKNOWN_TABLE"},
		{"definitions", "CREATE TEMPORARY TABLE t (a String DEFAULT '" + strings.Repeat("a", 120_000) + "')", ""},
		{"definitions", "CREATE TEMPORARY TABLE u (a String DEFAULT '" + strings.Repeat("a", 120_000) + "')", "The limit of one session"},
		{"failed", "CREATE TEMPORARY TABLE t (a String DEFAULT '" + strings.Repeat("a", 120_000) + "') AS SELECT throwIf(1)::String", "FUNCTION_THROW_IF"},
		{"failed", "CREATE TEMPORARY TABLE u (a String DEFAULT '" + strings.Repeat("a", 120_000) + "') AS SELECT throwIf(1)::String", "The limit of one session"},
		{"parameters", "SET max_query_size = 20000000", ""},
		{"parameters", "SET param_a = '" + strings.Repeat("a", 12<<20) + "'", ""},
		{"parameters", "SET param_b = '" + strings.Repeat("a", 12<<20) + "'", "The limit of one session"},
		{"b", "CREATE TEMPORARY TABLE t AS SELECT number FROM numbers(2000000)", ""},
		{"c", "CREATE TEMPORARY TABLE t AS SELECT number FROM numbers(2000000)", ""},
		{"d", "CREATE TEMPORARY TABLE t AS SELECT number FROM numbers(2000000)", "The limit of all sessions together is 41943040 bytes"},
		{"c", "DROP TEMPORARY TABLE t", ""},
		{"d", "CREATE TEMPORARY TABLE t AS SELECT number FROM numbers(2000000)", ""},
	} {
		status, got := ask(c.session, c.statement)
		if c.want == "" && (status != http.StatusOK || got != "") {
			t.Errorf("%s: %.80s: got %d %q", c.session, c.statement, status, got)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %.80s: got %d %q, want %q", c.session, c.statement, status, got, c.want)
		}
	}
}

// A session keeps the settings in the URL of its last request.
func TestSettingsOfSessionsHaveLimits(t *testing.T) {
	t.Parallel()
	ask := startFor(t, func(cfg *columnstore.Config) { cfg.Analysts.MaxTemporary = config.MiB })
	long := url.QueryEscape("1 /* " + strings.Repeat("a", 200<<10) + " */")
	for _, c := range []struct{ session, want string }{
		{"a&additional_result_filter=" + long, "1\n"},
		{"b&additional_result_filter=" + long, "1\n"},
		{"c&additional_result_filter=" + long, "The limit of all sessions together is 1048576 bytes"},
		{"b&max_threads=1", "1\n"},
		{"c&additional_result_filter=" + long, "1\n"},
	} {
		if _, got := ask(c.session, "SELECT 1"); !strings.Contains(got, c.want) {
			t.Errorf("%.40s: got %.300q, want %q", c.session, got, c.want)
		}
	}
}
