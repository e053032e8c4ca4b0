package embedded

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"vayu/internal/columnstore/embedded/chdb"
	"vayu/schema/statement"
)

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
			if e := (*chdb.Exception)(nil); !asException(err, &e) {
				t.Errorf("got %v, want an exception", err)
			} else if e.Code == 0 || status(e) < 400 {
				t.Errorf("%v has the code %d and the status %d", e, e.Code, status(e))
			}
			return
		}
		if !statement.Name(q.format) || q.Many || q.Empty {
			t.Errorf("let through %+v", q)
		}
		text := newSessionKey(q).Settings
		set := statement.Scan(text)
		tokens := 0
		for token := set.Next(); token.Kind != statement.End; token = set.Next() {
			tokens++
		}
		if want := 4 * len(q.settings); tokens != want { // SET or a comma, name, =, value
			t.Errorf("%d tokens, want %d, in %s", tokens, want, text)
		}
	})
}

func asException(err error, to **chdb.Exception) bool {
	e, ok := err.(*chdb.Exception) //nolint:errorlint // readRequest returns it unwrapped
	*to = e
	return ok
}
