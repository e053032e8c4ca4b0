package embedded_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/ClickHouse/ch-go/compress"

	"vayu/internal/columnstore/columnstoretest"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// ask sends one request to the test's engine with its password. Headers are "Name: value".
func ask(t *testing.T, method string, values url.Values, body io.Reader, headers ...string) (*http.Response, string) {
	t.Helper()
	address, password := columnstoretest.Access(t)
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+"/?"+values.Encode(), body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-ClickHouse-User", "default")
	r.Header.Set("X-ClickHouse-Key", password)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	reply, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply, string(text)
}

func query(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return values
}

func TestQueryInURLOrBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method string
		values url.Values
		body   string
		want   string
	}{
		"GET":                       {"GET", query("query", "SELECT 1 AS a, 'x'"), "", "1\tx\n"},
		"POST":                      {"POST", nil, "SELECT 1;\n", "1\n"},
		"both, joined":              {"POST", query("query", "SELECT"), "2", "2\n"},
		"FORMAT in the query":       {"POST", nil, "SELECT 1 AS a FORMAT JSONEachRow", "{\"a\":1}\n"},
		"default_format":            {"POST", query("default_format", "CSVWithNames"), "SELECT 1 AS a", "\"a\"\n1\n"},
		"a parameter":               {"POST", query("param_x", "it's\\t"), "SELECT {x:String}", "it\\'s\\t\n"},
		"an array parameter":        {"POST", query("param_x", "['a','b\\'c']"), "SELECT length({x:Array(String)})", "2\n"},
		"a setting":                 {"POST", query("max_threads", "3"), "SELECT getSetting('max_threads')", "3\n"},
		"the next has none of it":   {"POST", nil, "SELECT getSetting('max_threads') = 3", "0\n"},
		"database":                  {"POST", query("database", "system"), "SELECT count() FROM one", "1\n"},
		"JSON as a whole":           {"POST", nil, "SELECT number % 2 AS k, count() AS n FROM numbers(3) GROUP BY k WITH TOTALS ORDER BY k FORMAT JSONCompactColumns", "[\n\t[0, 1],\n\t[2, 1]\n]\n"},
		"no rows":                   {"POST", nil, "SELECT 1 WHERE 0", ""},
		"SHOW":                      {"POST", nil, "SHOW DATABASES LIKE 'system'", "system\n"},
		"comments":                  {"POST", nil, "/* a; */ -- b;\nSELECT ';' -- c;", ";\n"},
		"many rows":                 {"POST", query("default_format", "CSVWithNames"), "SELECT count() AS n FROM (SELECT number FROM numbers(200000))", "\"n\"\n200000\n"},
		"wait_end_of_query":         {"POST", query("wait_end_of_query", "1"), "SELECT 5", "5\n"},
		"what HTTP has nothing for": {"POST", query("send_progress_in_http_headers", "1", "log_comment", "x", "quota_key", "k"), "SELECT 6", "6\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply, got := ask(t, c.method, c.values, strings.NewReader(c.body))
			if reply.StatusCode != http.StatusOK || got != c.want {
				t.Errorf("got %d %q, want %q", reply.StatusCode, got, c.want)
			}
		})
	}
}

func TestReplyHeaders(t *testing.T) {
	t.Parallel()
	reply, _ := ask(t, "POST", query("query_id", "mine", "default_format", "JSONEachRow"), strings.NewReader("SELECT number FROM numbers(10)"))
	got := map[string]string{}
	for _, name := range []string{"X-ClickHouse-Query-Id", "X-ClickHouse-Format", "X-ClickHouse-Timezone", "Content-Type"} {
		got[name] = reply.Header.Get(name)
	}
	want := map[string]string{
		"X-ClickHouse-Query-Id": "mine", "X-ClickHouse-Format": "JSONEachRow",
		"X-ClickHouse-Timezone": reply.Header.Get("X-ClickHouse-Timezone"), "Content-Type": "application/x-ndjson; charset=UTF-8",
	}
	if diff := cmp.Diff(want, got); diff != "" || got["X-ClickHouse-Timezone"] == "" {
		t.Error(diff, got)
	}
	var summary map[string]string
	if err := json.Unmarshal([]byte(reply.Header.Get("X-ClickHouse-Summary")), &summary); err != nil || summary["result_rows"] != "10" {
		t.Errorf("summary %v, %v", summary, err)
	}
}

func TestErrorsMatchClickHouse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method string
		values url.Values
		body   string
		header string
		status int
		code   string
		text   string
	}{
		"syntax":            {"POST", nil, "SELEC", "A: b", 400, "62", "Code: 62. DB::Exception: Syntax error"},
		"empty":             {"POST", nil, " -- nothing\n", "A: b", 400, "62", "Empty query"},
		"unknown table":     {"POST", nil, "SELECT * FROM nowhere", "A: b", 404, "60", "(UNKNOWN_TABLE) (version 26."},
		"unknown database":  {"POST", query("database", "no`where\\"), "SELECT 1", "A: b", 404, "81", "(UNKNOWN_DATABASE)"},
		"two statements":    {"POST", nil, "SHOW TABLES; DROP TABLE x", "A: b", 400, "62", "Multi-statements are not allowed"},
		"GET changes":       {"GET", query("query", "CREATE TABLE x (a Int8) ENGINE = Memory"), "", "A: b", 500, "164", "(READONLY)"},
		"unknown format":    {"POST", nil, "SELECT 1 FORMAT Nonsense", "A: b", 404, "73", "(UNKNOWN_FORMAT)"},
		"format injection":  {"POST", query("default_format", "CSV SETTINGS x=1"), "SELECT 1", "A: b", 404, "73", "(UNKNOWN_FORMAT)"},
		"setting injection": {"POST", query("a` = 1, `b", "1"), "SELECT 1", "A: b", 404, "115", "(UNKNOWN_SETTING)"},
		"no password":       {"POST", nil, "SELECT 1", "X-ClickHouse-Key: ", 401, "194", "(REQUIRED_PASSWORD)"},
		"wrong password":    {"POST", nil, "SELECT 1", "X-ClickHouse-Key: wrong", 403, "516", "(AUTHENTICATION_FAILED)"},
		"wrong user":        {"POST", nil, "SELECT 1", "X-ClickHouse-User: unknown", 403, "516", "unknown: Authentication failed"},
		"no session":        {"POST", query("session_id", "none", "session_check", "1"), "SELECT 1", "A: b", 404, "372", "(SESSION_NOT_FOUND)"},
		"session timeout":   {"POST", query("session_id", "a", "session_timeout", "1d"), "SELECT 1", "A: b", 500, "374", "(INVALID_SESSION_TIMEOUT)"},
		"GET in a session":  {"GET", query("session_id", "get", "query", "CREATE TABLE x (a Int8) ENGINE = Memory"), "", "A: b", 500, "164", "(READONLY)"},
		"multipart":         {"POST", nil, "SELECT 1", "Content-Type: multipart/form-data; boundary=x", 400, "62", "Empty query"},
		"no boundary":       {"POST", nil, "SELECT 1", "Content-Type: multipart/form-data", 400, "36", "has no boundary"},
		"not gzip":          {"POST", nil, "SELECT 1", "Content-Encoding: gzip", 400, "271", "(CANNOT_DECOMPRESS)"},
		"data that is bad":  {"POST", query("query", "INSERT INTO FUNCTION null('a UInt8') FORMAT CSV"), "x\n", "A: b", 400, "117", "(INCORRECT_DATA)"},
		"after data":        {"POST", nil, "SELECT throwIf(number = 900000) FROM numbers(1000000)", "A: b", 200, "", "__exception__\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply, got := ask(t, c.method, c.values, strings.NewReader(c.body), c.header)
			if reply.StatusCode != c.status || reply.Header.Get("X-ClickHouse-Exception-Code") != c.code || !strings.Contains(got, c.text) {
				t.Errorf("got %d, code %q, %.300q; want %d, %q, %q", reply.StatusCode, reply.Header.Get("X-ClickHouse-Exception-Code"), got, c.status, c.code, c.text)
			}
		})
	}
}

func TestPasswordInEveryForm(t *testing.T) {
	t.Parallel()
	address, password := columnstoretest.Access(t)
	for name, target := range map[string]string{
		"Basic":           "http://default:" + password + "@" + address + "/?query=SELECT+1",
		"URL":             "http://" + address + "/?query=SELECT+1&user=default&password=" + password,
		"ping needs none": "http://" + address + "/ping",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(reply.Body)
		_ = reply.Body.Close()
		if reply.StatusCode != http.StatusOK || (string(text) != "1\n" && string(text) != "Ok.\n") {
			t.Errorf("%s: got %d %q", name, reply.StatusCode, text)
		}
	}
}

func TestInsertForms(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	for name, c := range map[string]struct{ query, body string }{
		"values in the body":       {"", "INSERT INTO t VALUES (1, 'a'), (2, concat('b', 'c'))"},
		"values split":             {"INSERT INTO t VALUES", "(1, 'a'), (2, 'bc')"},
		"all in the URL":           {"INSERT INTO t VALUES (1, 'a'), (2, 'bc')", ""},
		"CSV in the body":          {"", "INSERT INTO t (a, b) FORMAT CSV\n1,a\n2,bc\n"},
		"CSV split":                {"INSERT INTO t (a, b) FORMAT CSV", "1,a\n2,bc\n"},
		"JSON on the line":         {"", `INSERT INTO t FORMAT JSONEachRow {"a":1,"b":"a"} {"a":2,"b":"bc"}`},
		"with settings":            {"INSERT INTO t SETTINGS async_insert = 0 FORMAT TSV", "1\ta\n2\tbc\n"},
		"SELECT":                   {"", "INSERT INTO t SELECT number + 1, ['a', 'bc'][number + 1] FROM numbers(2)"},
		"SELECT in parentheses":    {"", "INSERT INTO t (SELECT number + 1, ['a', 'bc'][number + 1] FROM numbers(2))"},
		"WITH":                     {"", "INSERT INTO t WITH 1 AS one SELECT number + one, ['a', 'bc'][number + 1] FROM numbers(2)"},
		"a table's name is quoted": {"", "INSERT INTO `t` (`a`, b) FORMAT CSV\n1,a\n2,bc\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := columnstoretest.Database(t, db)
			if err := db.Conn().Exec(t.Context(), "CREATE TABLE "+database+".t (a UInt64, b String) ENGINE = MergeTree ORDER BY a"); err != nil {
				t.Fatal(err)
			}
			values := query("database", database)
			if c.query != "" {
				values.Set("query", c.query)
			}
			reply, text := ask(t, "POST", values, strings.NewReader(c.body))
			if reply.StatusCode != http.StatusOK || text != "" {
				t.Fatalf("got %d %q", reply.StatusCode, text)
			}
			if _, got := ask(t, "POST", query("database", database), strings.NewReader("SELECT * FROM t ORDER BY a")); got != "1\ta\n2\tbc\n" {
				t.Errorf("stored %q", got)
			}
		})
	}
}

func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	plain := []byte("SELECT 'squeezed'")
	squeeze := func(open func(io.Writer) io.WriteCloser) io.Reader {
		var b bytes.Buffer
		w := open(&b)
		_, _ = w.Write(plain)
		_ = w.Close()
		return &b
	}
	block := compress.NewWriter(compress.LevelZero, compress.LZ4)
	if err := block.Compress(plain); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body   io.Reader
		values url.Values
		coding string
	}{
		"gzip":  {squeeze(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }), nil, "gzip"},
		"lz4":   {squeeze(func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) }), nil, "lz4"},
		"zstd":  {squeeze(func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }), nil, "zstd"},
		"block": {bytes.NewReader(block.Data), query("decompress", "1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if reply, got := ask(t, "POST", c.values, c.body, "Content-Encoding: "+c.coding); reply.StatusCode != http.StatusOK || got != "squeezed\n" {
				t.Errorf("got %d %q", reply.StatusCode, got)
			}
		})
	}
	reply, got := ask(t, "POST", query("enable_http_compression", "1"), bytes.NewReader(plain), "Accept-Encoding: gzip")
	z, err := gzip.NewReader(strings.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if coding := reply.Header.Get("Content-Encoding"); err != nil || string(text) != "squeezed\n" || coding != "gzip" {
		t.Errorf("answer in gzip: got %q, %v with the coding %q", text, err, coding)
	}
	reply, got = ask(t, "POST", query("enable_http_compression", "1"), bytes.NewReader(plain), "Accept-Encoding: lz4, gzip")
	if text, err := io.ReadAll(lz4.NewReader(strings.NewReader(got))); string(text) != "squeezed\n" {
		t.Errorf("answer in LZ4: got %q, %v", text, err)
	}
	if coding := reply.Header.Get("Content-Encoding"); coding != "lz4" {
		t.Errorf("answer in LZ4: got the coding %q", coding)
	}
	_, got = ask(t, "POST", query("compress", "1"), bytes.NewReader(plain))
	if text, err := io.ReadAll(compress.NewReader(strings.NewReader(got))); string(text) != "squeezed\n" {
		t.Errorf("answer in blocks: got %q, %v", text, err)
	}
}

func TestAbortedInsertStoresNothing(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	database := columnstoretest.Database(t, db)
	if err := db.Conn().Exec(t.Context(), "CREATE TABLE "+database+".t (a UInt64) ENGINE = MergeTree ORDER BY a"); err != nil {
		t.Fatal(err)
	}
	address, password := columnstoretest.Access(t)
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	data := strings.Repeat("1\n", 100)
	_, err = fmt.Fprintf(conn, "POST /?%s HTTP/1.1\r\nHost: x\r\nX-ClickHouse-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
		query("query", "INSERT INTO "+database+".t FORMAT TSV").Encode(), password, len(data)+1000, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	reply, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(reply), "The body cannot be read: unexpected EOF") {
		t.Errorf("got %q, %v", reply, err)
	}
	var count uint64
	if err := db.Conn().QueryRow(t.Context(), "SELECT count() FROM "+database+".t").Scan(&count); err != nil || count != 0 {
		t.Errorf("%d rows of a broken insert are stored, %v", count, err)
	}
}
