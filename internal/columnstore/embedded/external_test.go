package embedded_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vayu/internal/columnstore/columnstoretest"
)

// part is a part of a multipart body: a table if it has a file name.
type part struct{ name, file, text string }

// form returns a multipart body and its Content-Type.
func form(t *testing.T, parts ...part) (body *bytes.Buffer, header string) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for _, p := range parts {
		create := func() error {
			if p.file == "" {
				return w.WriteField(p.name, p.text)
			}
			field, err := w.CreateFormFile(p.name, p.file)
			if err == nil {
				_, err = fmt.Fprint(field, p.text)
			}
			return err
		}
		if err := create(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body, "Content-Type: " + w.FormDataContentType()
}

// sender sends a request as one of the users.
type sender func(t *testing.T, method string, values url.Values, body io.Reader, headers ...string) (*http.Response, string)

func TestExternalTables(t *testing.T) {
	t.Parallel()
	columnstoretest.New(t)
	ids := part{"ids", "ids.tsv", "1\n2\n"}
	long := strings.Repeat("a", 9<<20)
	for name, c := range map[string]struct {
		values url.Values
		parts  []part
		status int
		want   string
	}{
		"query in the URL":     {query("ids_structure", "id UInt8", "query", "SELECT sum(id) FROM ids"), []part{ids}, 200, "3\n"},
		"types and a format":   {query("c_types", "Decimal(9, 2), String", "c_format", "CSV", "query", "SELECT * FROM c"), []part{{"c", "c", "1.50,a\n"}}, 200, "1.5\ta\n"},
		"query as a part":      {query("ids_structure", "id UInt8"), []part{{"query", "", "SELECT max(id) + {n:UInt8} FROM ids"}, {"param_n", "", "5"}, ids}, 200, "7\n"},
		"query behind":         {query("ids_structure", "id UInt8"), []part{ids, {"query", "", "SELECT id FROM ids WHERE id = 2"}}, 200, "2\n"},
		"no file name":         {query("ids_structure", "id UInt8", "query", "SELECT count() FROM ids"), []part{{"ids", "", "1\n"}}, 200, "1\n"},
		"two tables":           {query("ids_structure", "id UInt8", "b_structure", "id UInt8", "query", "SELECT count() FROM ids, b"), []part{ids, {"b", "b", "1\n"}}, 200, "2\n"},
		"a setting":            {query("ids_structure", "id UInt8", "max_threads", "1", "query", "SELECT getSetting('max_threads') FROM ids LIMIT 1"), []part{ids}, 200, "1\n"},
		"parameters, no table": {nil, []part{{"query", "", "SELECT {a:String}"}, {"param_a", "", "b"}}, 200, "b\n"},
		"long parameters":      {query("query", "SELECT 1"), []part{{"param_a", "", long}, {"param_b", "", long}}, 413, "The query and its parameters are longer than 16777216 bytes"},
		"no description":       {query("query", "SELECT 1"), []part{ids}, 400, `The external table "ids" has no description: give ids_structure or ids_types`},
		"no query":             {query("ids_structure", "id UInt8"), []part{ids}, 400, "Empty query"},
		"unknown part":         {query("query", "SELECT 1"), []part{{"other", "", "1"}}, 400, `The part "other" is no table`},
		"wrong data":           {query("ids_structure", "id UInt8", "query", "SELECT 1"), []part{{"ids", "ids", "x\n"}}, 400, "CANNOT_PARSE"},
		"wrong format":         {query("ids_structure", "id UInt8", "ids_format", "Values", "query", "SELECT 1"), []part{ids}, 404, `The external table "ids" has the format "Values"`},
		"two statements":       {query("ids_structure", "id UInt8); DROP TABLE x; SELECT (1", "query", "SELECT 1"), []part{ids}, 400, "more than one statement"},
	} {
		for user, send := range map[string]sender{"admin": ask, "analyst": askAnalyst} {
			t.Run(user+": "+name, func(t *testing.T) {
				t.Parallel()
				body, header := form(t, c.parts...)
				reply, got := send(t, http.MethodPost, c.values, body, header)
				if reply.StatusCode != c.status || !strings.Contains(got, c.want) {
					t.Errorf("got %d %q, want %d %q", reply.StatusCode, got, c.status, c.want)
				}
			})
		}
	}
}

// An external table is gone after its query, and the session of the client stays.
func TestExternalTablesLeaveSession(t *testing.T) {
	t.Parallel()
	columnstoretest.New(t)
	values := query("session_id", t.Name())
	for i, c := range []struct{ statement, want string }{
		{"SET max_block_size = 7", ""},
		{"SELECT getSetting('max_block_size'), id FROM ids", "7\t1\n"},
		{"SELECT throwIf(id = 1, 'wrong') FROM ids", "wrong"},
		{"SELECT id FROM ids", "UNKNOWN_TABLE"},
		{"SELECT getSetting('max_block_size'), id FROM ids", "7\t1\n"},
	} {
		values.Set("query", c.statement)
		body, header := form(t, part{"ids", "ids", "1\n"})
		values.Set("ids_structure", "id UInt8")
		if i == 0 || i == 3 {
			values.Del("ids_structure")
			body, header = &bytes.Buffer{}, "A: b"
		}
		if _, got := askAnalyst(t, http.MethodPost, values, body, header); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: got %q, want %q", c.statement, got, c.want)
		}
	}
}

// The columns of an external table give an analyst no more rights than a temporary table.
func TestExternalTablesAreGuarded(t *testing.T) {
	t.Parallel()
	columnstoretest.New(t)
	for _, structure := range []string{
		"a String DEFAULT file('/etc/passwd')", "a String) ENGINE = File('CSV', 'x'", "a String) AS SELECT * FROM url('http://127.0.0.1:1', 'CSV', 'a String'",
	} {
		body, header := form(t, part{"t", "t", "1\n"})
		if reply, got := askAnalyst(t, http.MethodPost, query("t_structure", structure, "query", "SELECT * FROM t"), body, header); reply.StatusCode != http.StatusForbidden {
			t.Errorf("%s: got %d %q, want %d", structure, reply.StatusCode, got, http.StatusForbidden)
		}
	}
}
