package pagination_test

import (
	"encoding/base64"
	"testing"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/schema"
)

func TestReadCursor(t *testing.T) {
	t.Parallel()
	const list = "things?state=new"
	owner := &httpapi.Call{Principal: httpapi.Principal{Account: "acc_1", World: schema.Live}}
	cursor := func(c *httpapi.Call, list, last string) string { return *pagination.Cursor(c, list, last) }
	for name, c := range map[string]struct {
		cursor string
		want   string // the position; "" if the cursor is rejected
	}{
		"valid":           {cursor(owner, list, "key_01 7"), "key_01 7"},
		"other list":      {cursor(owner, "things?state=old", "key_01"), ""},
		"other account":   {cursor(&httpapi.Call{Principal: httpapi.Principal{Account: "acc_2", World: schema.Live}}, list, "key_01"), ""},
		"other world":     {cursor(&httpapi.Call{Principal: httpapi.Principal{Account: "acc_1", World: schema.Sandbox}}, list, "key_01"), ""},
		"other position":  {base64.RawURLEncoding.EncodeToString(append([]byte("checksum"), "key_01"...)), ""},
		"forged with NUL": {cursor(owner, list, "key\x00"), ""},
		"forged as UTF-8": {cursor(owner, list, "é"), ""},
		"empty position":  {cursor(owner, list, ""), ""},
		"empty":           {"", ""},
		"no base64":       {"é", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f schema.RequestErrors
			got := pagination.ReadCursor(&f, owner, list, map[string]string{"cursor": c.cursor})
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if rejected := f.Problem() != nil; rejected != (c.want == "") {
				t.Errorf("got %v", f.Problem())
			}
		})
	}
}
