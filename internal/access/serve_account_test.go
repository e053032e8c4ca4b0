package access_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"vayu/internal/access/account"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestTheAllowListOfAnAccount(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		got := h.live("GET", "/v1/account", "").Want(t, "account", 200)
		want := `{"status":"success","id":"` + h.account + `","name":"default","mode":"live","plan":"unlimited","allow_list":[],"created_at":"2026-11-21T06:00:00Z","quota":null}`
		if got.Text != want {
			t.Errorf("got  %s\nwant %s", got.Text, want)
		}
		for body, field := range map[string]string{
			`{}`: "allow_list", `{"allow_list":null}`: "allow_list", `{"allow_list":"127.0.0.1"}`: "allow_list", `{"allow_list":[1]}`: "allow_list.0",
			`{"allow_list":["127.0.0.1","x"]}`: "allow_list.1", `{"allow_list":["203.0.113.0/24"]}`: "allow_list", `{"Allow_List":[]}`: "allow_list",
		} {
			h.live("PATCH", "/v1/account", body).WantError(t, body, 400, "invalid_request", field)
		}
		h.do(h.keys[schema.Sandbox], "PATCH", "/v1/account", `{"allow_list":[]}`).WantError(t, "the sandbox", 403, "forbidden", "allow_list")
		changed := h.live("PATCH", "/v1/account", `{"allow_list":["127.0.0.1","10.9.8.7/8"]}`).Want(t, "changing", 200)
		if !strings.Contains(changed.Text, `"allow_list":["127.0.0.1/32","10.0.0.0/8"]`) {
			t.Errorf("got %s", changed.Text)
		}
		h.live("PATCH", "/v1/account", `{"allow_list":["127.0.0.1/32","10.0.0.0/8"]}`).Want(t, "the same again", 200)
		if again := h.live("GET", "/v1/account", ""); again.Text != changed.Text {
			t.Errorf("got %s, want %s", again.Text, changed.Text)
		}
		rows := h.live("GET", "/v1/audit", "").Want(t, "audit", 200)
		if n := strings.Count(rows.Text, `"action":"account.allow_list"`); n != 1 {
			t.Errorf("%d rows about one change: %s", n, rows.Text)
		}
		if !strings.Contains(rows.Text, `"client":"127.0.0.1","detail":{"allow_list":["127.0.0.1/32","10.0.0.0/8"]}`) || !strings.Contains(rows.Text, changed.Header.Get("X-Request-Id")) {
			t.Errorf("got %s", rows.Text)
		}
	})
}

func TestUsageIsReportedByDay(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		for _, day := range []string{"2025-11-20", "2025-11-21", "2026-10-31", "2026-11-01", "2026-11-20"} {
			sqlstoretest.Exec(t, h.DB, fmt.Sprintf(`INSERT INTO usage_day (account_id, mode, day, operation, calls, failed, counted)
				VALUES ('%s', 'live', '%s', 'GET /v1/aqi', 3, 1, 2), ('%s', 'sandbox', '%s', 'GET /v1/cities', 1, 0, 0)`, h.account, day, h.account, day))
		}
		for query, want := range map[string]string{
			"":                               "2026-11-01 2026-11-20",
			"?from=2026-10-31":               "2026-10-31 2026-11-01 2026-11-20",
			"?to=2026-10-31":                 "2026-10-31",
			"?from=2025-11-21":               "2025-11-21 2026-10-31 2026-11-01 2026-11-20",
			"?from=2025-11-20&to=2026-11-20": "2025-11-20 2025-11-21 2026-10-31 2026-11-01 2026-11-20",
			"?from=2024-01-01&to=2024-01-31": "",
		} {
			r := h.live("GET", "/v1/usage"+query, "").Want(t, query, 200)
			var days []string
			list, _ := r.At("days").([]any)
			for _, d := range list {
				if row := d.(map[string]any); row["operation"] == "GET /v1/aqi" { // besides the calls of the test itself
					days = append(days, row["date"].(string))
				}
			}
			if got := strings.Join(days, " "); got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
			if strings.Contains(r.Text, "cities") || r.TextAt("mode") != "live" {
				t.Errorf("%s: got %s", query, r.Text)
			}
		}
		for query, field := range map[string]string{
			"?from=2026-11-31": "from", "?from=2026-1-1": "from", "?from=": "from", "?from=2026-11-22": "from", "?from=2026-11-02&to=2026-11-01": "from",
			"?from=2025-11-20&to=2026-11-21": "to", "?to=now": "to", "?limit=5": "limit", "?From=2026-11-01": "From", "?from=2026-11-01&from=2026-11-01": "from", "?%00=1": "?", "?from=%zz": "from",
		} {
			h.live("GET", "/v1/usage"+query, "").WantError(t, query, 400, "invalid_request", field)
		}
	})
}

func TestTooManyRowsOfUsageAreRefused(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		for _, query := range []string{"?by=path", "?by="} {
			h.live("GET", "/v1/usage"+query, "").WantError(t, query, 400, "invalid_request", "by")
		}
		for _, query := range []string{"?key=a-b", "?key="} {
			h.live("GET", "/v1/usage"+query, "").WantError(t, query, 400, "invalid_request", "key")
		}
		const digits = "WITH d (n) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))"
		sqlstoretest.Exec(t, h.DB, digits+`, k (n) AS (SELECT a.n * 100 + b.n * 10 + c.n FROM d a, d b, d c)
			INSERT INTO usage_key_day (account_id, mode, day, key_id, operation, calls, failed, counted, expires_at)
			SELECT '`+h.account+`', 'live', '2026-11-0' || x.n, 'key_' || k.n, 'GET /v1/x' || y.n, 1, 0, 1, 4102444800000000 FROM k, d x, d y WHERE x.n > 0 AND y.n < 7`)
		r := h.live("GET", "/v1/usage?by=key&from=2026-11-01&to=2026-11-01", "").Want(t, "7,000 rows", 200)
		if rows, _ := r.At("days").([]any); len(rows) != 7_000 || rows[0].(map[string]any)["key_id"] != "key_0" {
			t.Errorf("%d rows", len(rows))
		}
		h.live("GET", "/v1/usage?by=key&from=2026-11-01&to=2026-11-08", "").WantError(t, "56,000 rows", 400, "invalid_request", "from")
		h.live("GET", "/v1/usage?by=key&from=2026-11-01&to=2026-11-08&key=key_7", "").Want(t, "one key", 200)
	})
}

// pages reads all pages of a list and returns the ids of its entries.
func (h *serverFixture) pages(key, path, id string) (names []string, cursors []string) {
	h.t.Helper()
	between := "?"
	if strings.Contains(path, "?") {
		between = "&"
	}
	for next := ""; ; {
		r := h.do(key, "GET", path+next, "").Want(h.t, path, 200)
		list, _ := r.At("data").([]any)
		for _, row := range list {
			names = append(names, fmt.Sprint(row.(map[string]any)[id]))
		}
		cursor := r.TextAt("next_cursor")
		if r.At("has_more") != (cursor != "") {
			h.t.Fatalf("got %s", r.Text)
		}
		if cursor == "" {
			return names, cursors
		}
		cursors = append(cursors, cursor)
		next = between + "cursor=" + cursor
	}
}

func TestListsGoThroughEverythingOnceAndCursorsBelongToTheirList(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		live, sandbox := h.keys[schema.Live], h.keys[schema.Sandbox]
		for i := range 4 {
			h.clock.Advance(time.Millisecond) // ids are in the order of time
			h.live("POST", "/v1/keys", fmt.Sprintf(`{"name":"%d"}`, i)).Want(t, "making", 201)
		}
		names, keyCursors := h.pages(live, "/v1/keys?limit=2", "name")
		if got := strings.Join(names, ","); got != "3,2,1,0," || len(keyCursors) != 2 {
			t.Errorf("keys: %s in %d pages", got, len(keyCursors)+1)
		}
		if names, cursors := h.pages(live, "/v1/keys?limit=5", "name"); len(names) != 5 || len(cursors) != 0 {
			t.Errorf("a full page: %v, %d cursors", names, len(cursors))
		}
		seqs, auditCursors := h.pages(live, "/v1/audit?limit=2", "seq")
		if got := strings.Join(seqs, ","); got != "5,4,3,2,1" {
			t.Errorf("audit: %s", got)
		}
		spanned, _ := h.pages(live, "/v1/audit?limit=1&from=2026-11-21T06:00:00.124Z&to=2026-11-21T11:30:00.126456%2B05:30", "seq")
		if got := strings.Join(spanned, ","); got != "3,2" {
			t.Errorf("a span: %s", got)
		}
		for query, want := range map[string]int{"?from=2026-11-21": 5, "?to=2026-11-21": 5, "?to=2026-11-20": 0, "?from=2026-11-22": 0, "?from=0001-01-01&to=9999-12-31": 5} {
			if rows, _ := h.pages(live, "/v1/audit"+query, "seq"); len(rows) != want {
				t.Errorf("%s: %d rows, want %d", query, len(rows), want)
			}
		}
		cursor := keyCursors[0]
		for what, c := range map[string][2]string{
			"nonsense": {live, "/v1/keys?cursor=abc"}, "no base64": {live, "/v1/keys?cursor=*"}, "cut": {live, "/v1/keys?cursor=" + cursor[:len(cursor)-1]},
			"changed": {live, "/v1/keys?cursor=" + cursor[:20] + "xx" + cursor[22:]}, "the other world's": {sandbox, "/v1/keys?cursor=" + cursor},
			"another list's": {live, "/v1/audit?cursor=" + cursor}, "another filter's": {live, "/v1/audit?from=2026-11-01&cursor=" + auditCursors[0]},
		} {
			h.do(c[0], "GET", c[1], "").WantError(t, what, 400, "invalid_request", "cursor")
		}
		for query, field := range map[string]string{
			"limit=0": "limit", "limit=1001": "limit", "limit=%2B1": "limit", "limit=1.0": "limit", "limit=": "limit", "limit=1&limit=1": "limit", "sort=name": "sort", "cursor=": "cursor",
		} {
			h.live("GET", "/v1/keys?"+query, "").WantError(t, query, 400, "invalid_request", field)
		}
		for query, field := range map[string]string{"from=yesterday": "from", "to=2026-13-01": "to", "from=2026-11-02&to=2026-11-01": "from", "from=2026-11-02T00:00:00": "from"} {
			h.live("GET", "/v1/audit?"+query, "").WantError(t, query, 400, "invalid_request", field)
		}
		both := h.live("GET", "/v1/audit?from=x&to=y&limit=0&cursor=z", "")
		both.WantError(t, "all at once", 400, "invalid_request", "from")
		if details, _ := both.At("error.details").([]any); len(details) != 4 {
			t.Errorf("got %s", both.Text)
		}
	})
}

func TestKeySpecValidation(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		try := func(do func(tx *sqlstore.Tx) error) string {
			err := h.DB.Update(context.Background(), do)
			if err == nil {
				return ""
			}
			return err.Error()
		}
		plans := map[string]int64{"free": 1000, "unlimited": 0}
		for _, name := range []string{"", "a b", "ä", "a/b", strings.Repeat("a", 65), "a\x00"} {
			if got := try(func(tx *sqlstore.Tx) error {
				_, _, err := account.Create(tx, plans, name, "free", h.Now())
				return err
			}); !strings.HasPrefix(got, "invalid_request: The name of an account") {
				t.Errorf("%q: %s", name, got)
			}
		}
		if got := try(func(tx *sqlstore.Tx) error {
			_, _, err := account.Create(tx, plans, "default", "free", h.Now())
			return err
		}); !strings.Contains(got, "already") {
			t.Errorf("a name twice: %s", got)
		}
		if got := try(func(tx *sqlstore.Tx) error {
			_, _, err := account.SetPlan(tx, plans, h.account, "gold")
			return err
		}); !strings.Contains(got, "The plans are free, unlimited") {
			t.Errorf("no such plan: %s", got)
		}
		if got := try(func(tx *sqlstore.Tx) error {
			_, _, err := account.SetPlan(tx, plans, "acc_none", "free")
			return err
		}); !strings.HasPrefix(got, "not_found") {
			t.Errorf("no such account: %s", got)
		}
		var before, after int64
		got := try(func(tx *sqlstore.Tx) error {
			if err := tx.QueryRow("SELECT n FROM access_revision").Scan(&before); err != nil {
				return err
			}
			holder, entry, err := account.SetPlan(tx, plans, h.account, "free")
			if err != nil || holder.Plan != "free" || entry.Action != "account.plan" {
				return fmt.Errorf("%+v %+v %w", holder, entry, err)
			}
			return tx.QueryRow("SELECT n FROM access_revision").Scan(&after)
		})
		if got != "" || after != before+1 {
			t.Errorf("a plan: %s, revision %d after %d", got, after, before)
		}
		named, err := account.ByName(h.DB.View(context.Background()), "default")
		if err != nil || named.ID != h.account || named.Plan != "free" {
			t.Errorf("got %+v, %v", named, err)
		}
		all, err := account.List(h.DB.View(context.Background()))
		if err != nil || len(all) != 1 {
			t.Errorf("got %+v, %v", all, err)
		}
	})
}
