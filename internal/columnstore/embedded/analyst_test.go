package embedded_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"vayu/internal/columnstore/columnstoretest"
)

// askAnalyst sends one request as the user analyst.
func askAnalyst(t *testing.T, method string, values url.Values, body io.Reader, headers ...string) (*http.Response, string) {
	t.Helper()
	_, password := columnstoretest.AnalystAccess(t)
	return ask(t, method, values, body, append([]string{"X-ClickHouse-User: analyst", "X-ClickHouse-Key: " + password}, headers...)...)
}

var fillOnce sync.Once

// fill creates the database vayu with a readable table, a private one, and a view that reads the private one.
func fill(t *testing.T) {
	t.Helper()
	db := columnstoretest.New(t)
	fillOnce.Do(func() {
		for _, statement := range []string{
			"CREATE DATABASE vayu", "CREATE DATABASE vayu_ops",
			"CREATE TABLE vayu.reading (id UInt32, version UInt32) ENGINE = ReplacingMergeTree(version) PARTITION BY id % 2 ORDER BY id",
			"SYSTEM STOP MERGES vayu.reading",
			"INSERT INTO vayu.reading SELECT number, 1 FROM numbers(10)",
			"INSERT INTO vayu.reading SELECT number, 2 FROM numbers(10)",
			"CREATE TABLE vayu.attempt (account_id String) ENGINE = MergeTree ORDER BY account_id",
			"INSERT INTO vayu.attempt VALUES ('acc_1')",
			"CREATE VIEW vayu.copied AS SELECT * FROM vayu.attempt",
			"CREATE TABLE vayu_ops.source_run (run UInt64) ENGINE = MergeTree ORDER BY run",
		} {
			if err := db.Conn().Exec(t.Context(), statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
	})
}

func TestAnalystReads(t *testing.T) {
	t.Parallel()
	fill(t)
	for query, want := range map[string]string{
		"SELECT count(), max(version) FROM vayu.reading":                                "10\t2\n",
		"SELECT count() FROM vayu.reading SETTINGS final = 0":                           "20\n",
		"SELECT name FROM system.tables WHERE database = 'vayu' ORDER BY name":          "copied\nreading\n",
		"SELECT name FROM system.columns WHERE database = 'vayu' AND table = 'reading'": "id\nversion\n",
		"SHOW TABLES FROM vayu":       "copied\nreading\n",
		"SELECT count() FROM reading": "10\n",
		"SHOW DATABASES LIKE 'vayu%'": "vayu\n",
		"SELECT count() FROM information_schema.tables WHERE table_schema = 'vayu'":       "2\n",
		"SELECT count() FROM system.processes":                                            "0\n",
		"SELECT count() FROM system.errors":                                               "0\n",
		"SELECT getSetting('max_execution_time')":                                         "60\n",
		"SELECT getSetting('do_not_merge_across_partitions_select_final')":                "true\n",
		"SELECT getSetting('max_execution_time') SETTINGS max_execution_time = 5":         "5\n",
		"SELECT sum(number) FROM numbers(10)":                                             "45\n",
		"EXISTS vayu.reading":                                                             "1\n",
		"SELECT format('{}', 'a'), 'file' FORMAT CSV":                                     "\"a\",\"file\"\n",
		"WITH x AS (SELECT id FROM vayu.reading) SELECT count() FROM x WHERE id < 5 -- a": "5\n",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			if reply, got := askAnalyst(t, "POST", nil, strings.NewReader(query)); reply.StatusCode != http.StatusOK || got != want {
				t.Errorf("got %d %q, want %q", reply.StatusCode, got, want)
			}
		})
	}
}

// Each statement is refused for the user analyst. The codes are those of ClickHouse.
func TestAnalystIsRefused(t *testing.T) {
	t.Parallel()
	fill(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const denied, constraint = "497", "452"
	for query, code := range map[string]string{
		"SELECT * FROM file('/proc/self/environ', 'LineAsString')":                                 denied,
		"SELECT file('/proc/self/environ')":                                                        denied,
		"SELECT `file`('/proc/self/environ')":                                                      denied,
		"SELECT \"file\" /**/ ('" + secret + "')":                                                  denied,
		"SELECT `f\\x69le`('" + secret + "')":                                                      denied,
		"SELECT * APPLY(file) FROM (SELECT '" + secret + "')":                                      denied,
		"SELECT arrayMap(x -> file(x), ['" + secret + "'])":                                        denied,
		"SELECT * FROM `default`.`" + secret + "`":                                                 denied,
		"SELECT * FROM eval('SELECT 1')":                                                           denied,
		"SELECT * FROM sqlite('state.db', 'account')":                                              denied,
		"SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')":                                 denied,
		"SELECT * FROM remote('127.0.0.1', 'system.one')":                                          denied,
		"SELECT * FROM s3('http://127.0.0.1:1/bucket/key')":                                        denied,
		"SELECT * FROM executable('x', 'TSV', 'a String')":                                         denied,
		"SELECT * FROM arrowstream(1)":                                                             denied,
		"SELECT 1 WHERE 1 IN executable('x', 'TSV', 'a String')":                                   denied,
		"SELECT * FROM cluster('default', 'system.one')":                                           denied,
		"SELECT * FROM vayu.attempt":                                                               denied,
		"SELECT * FROM vayu.copied":                                                                denied,
		"SELECT * FROM merge('vayu', 'attempt')":                                                   "636",
		"SELECT * FROM vayu_ops.source_run":                                                        denied,
		"SHOW CREATE TABLE vayu.attempt":                                                           denied,
		"DESCRIBE vayu.attempt":                                                                    denied,
		"SELECT * FROM system.users":                                                               denied,
		"SELECT 1 INTO OUTFILE '" + secret + ".out'":                                               denied,
		"SHOW TABLES INTO OUTFILE '" + secret + ".out'":                                            denied,
		"INSERT INTO vayu.reading VALUES (1, 3)":                                                   denied,
		"INSERT INTO vayu.reading SELECT 1, 3":                                                     denied,
		"INSERT INTO FUNCTION file('x', 'CSV', 'a Int8') VALUES (1)":                               denied,
		"INSERT INTO t FROM INFILE '" + secret + "' FORMAT CSV":                                    denied,
		"DROP TABLE vayu.reading":                                                                  denied,
		"DROP DATABASE vayu":                                                                       denied,
		"TRUNCATE TABLE vayu.reading":                                                              denied,
		"ALTER TABLE vayu.reading DELETE WHERE 1":                                                  denied,
		"OPTIMIZE TABLE vayu.reading":                                                              denied,
		"RENAME TABLE vayu.reading TO vayu.x":                                                      denied,
		"CREATE TABLE vayu.x (a Int8) ENGINE = Memory":                                             denied,
		"CREATE VIEW vayu.x AS SELECT 1":                                                           denied,
		"CREATE DATABASE x":                                                                        denied,
		"CREATE FUNCTION x AS a -> a":                                                              denied,
		"CREATE USER x":                                                                            denied,
		"CREATE TEMPORARY TABLE x (a String) ENGINE = File('CSV', 'x')":                            denied,
		"GRANT SELECT ON vayu.attempt TO default":                                                  denied,
		"GRANT ALL ON *.* TO default":                                                              denied,
		"SET ROLE ALL":                                                                             denied,
		"SET ROLE vayu_admin":                                                                      denied,
		"SET DEFAULT ROLE ALL TO default":                                                          denied,
		"SET profile = 'default'":                                                                  denied,
		"SELECT 1 PARALLEL WITH SET ROLE ALL":                                                      denied,
		"EXECUTE AS default":                                                                       denied,
		"SYSTEM FLUSH LOGS":                                                                        denied,
		"SYSTEM SHUTDOWN":                                                                          denied,
		"KILL QUERY WHERE 1":                                                                       denied,
		"BACKUP TABLE vayu.reading TO File('x')":                                                   denied,
		"DETACH TABLE vayu.reading":                                                                denied,
		"SELECT 1 SETTINGS readonly = 0":                                                           constraint,
		"SELECT 1 SETTINGS readonly = DEFAULT":                                                     constraint,
		"SELECT 1 SETTINGS final = DEFAULT, max_memory_usage = DEFAULT":                            constraint,
		"SELECT * FROM (SELECT 1 SETTINGS max_rows_to_read = 0)":                                   constraint,
		"SELECT * FROM (SELECT 1 SETTINGS `max_threads` = 1000)":                                   constraint,
		"SELECT 1 SETTINGS final = 0, max_threads = {n:UInt64}":                                    constraint,
		"SELECT 1 SETTINGS additional_table_filters = {'a': 'b'}, readonly = 0":                    constraint,
		"SELECT 1 SETTINGS readonly = 0 UNION ALL SELECT 2":                                        constraint,
		"SELECT 1 AS a FORMAT Protobuf SETTINGS output_format_schema = '" + secret + ".out'":       constraint,
		"SELECT 1 // '\n, file('" + secret + "') // '":                                             denied,
		"SELECT 1 /* /* */ ' */, file('" + secret + "') -- '":                                      denied,
		"SELECT “file”('" + secret + "')":                                                          denied,
		"SELECT file\u3000('" + secret + "')":                                                      denied,
		"SELECT 1 AS x$a$, file('" + secret + "') AS y$a$":                                         denied,
		"SELECT * FROM format(Values, 'a String', '(file(''" + secret + "''))')":                   "344",
		"SELECT 1 SETTINGS max_block_size = 1000000":                                               constraint,
		"SELECT hasColumnInTable('127.0.0.1:1', 'system', 'one', 'dummy')":                         "42",
		"SELECT aiFilter('a', 'b')":                                                                denied,
		"SELECT 1.file('" + secret + "')":                                                          denied,
		"SELECT 1e1file('" + secret + "')":                                                         "46",
		"SELECT 1 FROM":                                                                            "62",
		"GRANT":                                                                                    "62",
		"SELECT 1 SETTINGS log_comment = 'vayu-1'":                                                 constraint,
		"SELECT 1 SETTINGS max_execution_time = 3600":                                              constraint,
		"SELECT 1 SETTINGS max_execution_time = 0":                                                 constraint,
		"SELECT 1 SETTINGS max_memory_usage = 0":                                                   constraint,
		"SELECT 1 SETTINGS allow_introspection_functions = 1":                                      constraint,
		"SELECT 1 SETTINGS dialect = 'kusto'":                                                      constraint,
		"SELECT 1 SETTINGS profile = 'default'":                                                    denied,
		"USE vayu_ops":                                                                             denied,
		"SELECT count() FROM numbers(10000000000)":                                                 "158",
		"SELECT number FROM numbers(20000000) FORMAT Null SETTINGS max_result_rows = 1000":         "396",
		"SELECT groupArray(number) FROM numbers(1000000000) SETTINGS max_memory_usage = 100000000": "241",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			reply, got := askAnalyst(t, "POST", nil, strings.NewReader(query))
			if got, want := reply.Header.Get("X-ClickHouse-Exception-Code"), code; got != want {
				t.Errorf("got code %q, want %q", got, want)
			}
			if strings.Contains(got, "hush") || strings.Contains(got, "PATH=") {
				t.Errorf("got %q", got)
			}
		})
	}
	if _, err := os.Stat(secret + ".out"); err == nil {
		t.Error("a query wrote a file")
	}
}

// The values of an analyst's INSERT are literals, so that they call no function.
func TestAnalystInsertsValues(t *testing.T) {
	t.Parallel()
	values := query("session_id", "expression")
	if reply, got := askAnalyst(t, "POST", values, strings.NewReader("CREATE TEMPORARY TABLE t (a String)")); reply.StatusCode != http.StatusOK {
		t.Fatalf("got %d %q", reply.StatusCode, got)
	}
	for body, want := range map[string]int{
		"INSERT INTO t VALUES (file('/proc/self/environ'))":             http.StatusForbidden,
		"INSERT INTO t VALUES ('" + strings.Repeat("a", 300<<10) + "')": http.StatusRequestEntityTooLarge,
		"INSERT INTO t VALUES (lower('A'))":                             http.StatusInternalServerError,
		"INSERT INTO t VALUES ('A'), ('B')":                             http.StatusOK,
	} {
		if reply, got := askAnalyst(t, "POST", values, strings.NewReader(body)); reply.StatusCode != want {
			t.Errorf("%.60s: got %d %q, want %d", body, reply.StatusCode, got, want)
		}
	}
}

// A setting of a URL above a limit becomes the limit, and one in a session cannot pass it either.
func TestAnalystLimitsFollowRequests(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{"5": "5\n", "0": "60\n", "300": "60\n"} {
		values := query("max_execution_time", setting, "query", "SELECT getSetting('max_execution_time')")
		if _, got := askAnalyst(t, "GET", values, nil); got != want {
			t.Errorf("max_execution_time=%s: got %q, want %q", setting, got, want)
		}
	}
	if reply, got := askAnalyst(t, "GET", query("profile", "default", "query", "SELECT 1"), nil); reply.StatusCode != http.StatusForbidden {
		t.Errorf("profile: got %d %q", reply.StatusCode, got)
	}
}

// The fence holds also for an administrator: no file outside the engine's directory, no network, no secrets in the
// environment.
func TestEngineIsFencedIn(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"SELECT file('" + secret + "')":                                             "",
		"SELECT * FROM file('/etc/passwd', 'LineAsString')":                         "",
		"INSERT INTO FUNCTION file('" + secret + ".out', 'CSV', 'a Int8') SELECT 1": "",
		"SELECT * FROM file('/proc/self/environ', 'LineAsString')":                  "TMPDIR=",
	} {
		reply, got := ask(t, "POST", nil, strings.NewReader(query))
		if want == "" && reply.StatusCode == http.StatusOK {
			t.Errorf("%s: got %q, want an error", query, got)
		}
		if !strings.Contains(got, want) || strings.Contains(got, "hush") || strings.Contains(got, "HOME=") {
			t.Errorf("%s: got %q", query, got)
		}
	}
}

// A new version of the engine may have new system tables. Each must be listed in package access.
func TestEverySystemTableIsShownOrHidden(t *testing.T) {
	t.Parallel()
	_, all := ask(t, "POST", nil, strings.NewReader("SELECT name FROM system.tables WHERE database = 'system'"))
	_, shown := askAnalyst(t, "POST", nil, strings.NewReader("SELECT name FROM system.tables WHERE database = 'system'"))
	for name := range strings.FieldsSeq(all) {
		if strings.Contains("\n"+shown, "\n"+name+"\n") || name == "models" { // which waits for a program that the fence forbids
			continue
		}
		reply, got := askAnalyst(t, "POST", nil, strings.NewReader("SELECT count() FROM system."+name))
		if reply.StatusCode == http.StatusOK && got != "0\n" {
			t.Errorf("system.%s has %s rows for analysts: list it in package access", name, strings.TrimSpace(got))
		}
	}
}
