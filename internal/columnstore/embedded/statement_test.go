package embedded

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/embedded/chdb"
)

func TestStartOfData(t *testing.T) {
	t.Parallel()
	type found struct{ Text, Format, Data string }
	for text, want := range map[string]found{
		"INSERT INTO t FORMAT Native\n\x01\x02":                 {"INSERT INTO t ", "Native", "\x01\x02"},
		"INSERT INTO t FORMAT RowBinary\n\n":                    {"INSERT INTO t ", "RowBinary", "\n"},
		"INSERT INTO t FORMAT TSV  \r\n\ta":                     {"INSERT INTO t ", "TSV", "\ta"},
		"insert into `a b`.\"format\" (`values`) values (1)":    {"insert into `a b`.\"format\" (`values`) ", "Values", " (1)"},
		"INSERT INTO values VALUES (1)":                         {"INSERT INTO values ", "Values", " (1)"},
		"INSERT INTO format.format FORMAT CSV 1":                {"INSERT INTO format.format ", "CSV", "1"},
		"INSERT INTO TABLE FUNCTION s3('FORMAT x') FORMAT CSV":  {"INSERT INTO TABLE FUNCTION s3('FORMAT x') ", "CSV", ""},
		"/* FORMAT a */ INSERT INTO t -- VALUES\nFORMAT CSV\nx": {"/* FORMAT a */ INSERT INTO t -- VALUES\n", "CSV", "x"},
		"INSERT INTO t SETTINGS a = 'VALUES' FORMAT CSV\nx":     {"INSERT INTO t SETTINGS a = 'VALUES' ", "CSV", "x"},
		"INSERT INTO t; ":   {"INSERT INTO t", "", ""},
		"INSERT INTO t (a)": {"INSERT INTO t (a)", "", ""},
	} {
		st := readStatement(text)
		if st.data < 0 {
			t.Errorf("%q: no data found", text)
			continue
		}
		if diff := cmp.Diff(want, found{st.text, st.format, text[st.data:]}); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestReadStatement(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]statement{
		"SELECT 1": {verb: "SELECT"},
		"(select 1) UNION ALL (SELECT 2) FORMAT CSV": {verb: "SELECT", format: "CSV"},
		"SELECT format(1), 'FORMAT x' AS format":     {verb: "SELECT"},
		"SELECT 1 FORMAT JSON SETTINGS a = 1;":       {verb: "SELECT", format: "JSON"},
		"SELECT $a$; DROP$a$ ; -- more\n;":           {verb: "SELECT"},
		"SELECT 1; SELECT 2":                         {verb: "SELECT", many: true},
		"SELECT 'it''s; \\'; ' ; x":                  {verb: "SELECT", many: true},
		"SELECT a WITH TOTALS":                       {verb: "SELECT", totals: true},
		"INSERT INTO t SELECT 1":                     {verb: "INSERT"},
		"INSERT INTO t (a) (SELECT 1)":               {verb: "INSERT"},
		"INSERT INTO t FROM INFILE 'x' FORMAT CSV":   {verb: "INSERT", format: "CSV"},
		"\ufeff-- only\n# a comment":                 {empty: true},
		"":                                           {empty: true},
	} {
		want.text, want.data = text, -1
		if diff := cmp.Diff(want, readStatement(text), cmp.AllowUnexported(statement{})); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func FuzzReadStatement(f *testing.F) {
	for _, seed := range []string{"INSERT INTO t FORMAT CSV\n1", "SELECT '\\", "INSERT INTO a.", "$a$$a$", "/*", "INSERT VALUES", "((", "SELECT `"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		st := readStatement(text)
		if st.data > len(text) || !strings.Contains(text, st.text) {
			t.Errorf("data at %d of %d, text %q", st.data, len(text), st.text)
		}
		if st.data >= 0 && st.verb != "INSERT" {
			t.Errorf("%s has data", st.verb)
		}
	})
}

func FuzzReadRequest(f *testing.F) {
	f.Add("query=INSERT+INTO+t+FORMAT+CSV&param_x=1&max_threads=2", "1,2\n")
	f.Add("default_format=JSON&database=a", "SELECT 1")
	f.Add("query=%zz", "")
	f.Add("query=INSERT+INTO+t", " VALUES (1)")
	f.Fuzz(func(t *testing.T, raw, body string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.URL = &url.URL{Path: "/", RawQuery: raw}
		q, err := readRequest(r, r.Body)
		if err != nil {
			if e := (*chdb.Exception)(nil); !asException(err, &e) || e.Code == 0 || status(e) < 400 {
				t.Errorf("error without a code: %v", err)
			}
			return
		}
		if !name(q.format) || q.many || q.empty {
			t.Errorf("let through %+v", q)
		}
		set := &scanner{text: newSessionKey(q.database, q.settings, q.readonly).settings}
		tokens := 0
		for token := set.next(); token.kind != tokenEnd; token = set.next() {
			tokens++
		}
		if want := 4 * len(q.settings); tokens != want { // SET or a comma, name, =, value
			t.Errorf("%d tokens, want %d, in %s", tokens, want, set.text)
		}
	})
}

func asException(err error, to **chdb.Exception) bool {
	e, ok := err.(*chdb.Exception) //nolint:errorlint // readRequest returns it unwrapped
	*to = e
	return ok
}
