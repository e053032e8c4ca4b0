package audit_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// archive is an account with an audit log.
type archive struct {
	accesstest.Client
	accesstest.Tenant

	t  *testing.T
	db *sqlstore.DB
}

func eachArchive(t *testing.T, do func(t *testing.T, a archive)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		tenant, other := accesstest.AddTenant(t, db, "archive"), accesstest.AddTenant(t, db, "other")
		service := accesstest.Access(t, db, func() time.Time { return start })
		a := archive{accesstest.NewClient(t, service, service.Routes()), tenant, t, db}
		for _, alien := range []schema.Owner{other.In(schema.Live), tenant.In(schema.Sandbox)} {
			a.append(alien, audit.Entry{Actor: "key_1", Action: "recharge.create", Subject: "txn_1"})
		}
		do(t, a)
	})
}

// append appends rows to an account's log, one second apart.
func (a archive) append(owner schema.Owner, rows ...audit.Entry) {
	a.t.Helper()
	err := a.db.Update(a.t.Context(), func(tx *sqlstore.Tx) error {
		for i, e := range rows {
			e.Account, e.World = owner.Account, owner.World
			if err := audit.Append(tx, start.Add(time.Duration(i)*time.Second), e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// seqs returns the numbers of the rows of all pages, and the number of pages.
func (a archive) seqs(query string) (all string, pages int) {
	a.t.Helper()
	var list []string
	for cursor := ""; ; {
		r := a.Do(a.Keys[schema.Live], "GET", "/v1/audit?"+query+cursor, "").Want(a.t, query, 200)
		rows, _ := r.At("data").([]any)
		for _, row := range rows {
			list = append(list, fmt.Sprint(row.(map[string]any)["seq"]))
		}
		pages++
		next := r.TextAt("next_cursor")
		if r.At("has_more") != (next != "") {
			a.t.Fatalf("%s: %s", query, r.Text)
		}
		if next == "" {
			return strings.Join(list, " "), pages
		}
		cursor = "&cursor=" + next
	}
}

var eventRecorder = []audit.Entry{
	{Actor: "key_1", Action: "recharge.create", Subject: "txn_1", Request: "-req", Client: "192.0.2.1", Detail: map[string]any{"name": "=1+1, \"quoted\""}},
	{Actor: "operator", Action: "recharge.success", Subject: "txn_1"},
	{Actor: "key_2", Action: "recharge.create", Subject: "txn_2"},
	{Actor: "key_1", Action: "recharge.refund", Subject: "txn_1"},
	{Actor: "key_1", Action: "recharges.create", Subject: "txn_3"},
	{Actor: "command", Action: "key.create", Subject: "key_1"},
}

func TestTheAuditLogIsFiltered(t *testing.T) {
	t.Parallel()
	eachArchive(t, func(t *testing.T, a archive) {
		a.append(a.In(schema.Live), eventRecorder...)
		for query, want := range map[string]string{
			"":                                     "6 5 4 3 2 1",
			"subject=txn_1":                        "4 2 1",
			"subject=txn_9":                        "",
			"actor=key_1":                          "5 4 1",
			"actor=key_":                           "",
			"action=recharge.create":               "3 1",
			"action=recharge.":                     "4 3 2 1",
			"action=recharge.cr":                   "",
			"subject=txn_1&actor=key_1":            "4 1",
			"subject=txn_1&action=recharge.create": "1",
			"actor=key_1&action=recharge.":         "4 1",
			"subject=txn_1&from=2026-11-21T06:00:01Z":    "4 2",
			"subject=txn_1&to=2026-11-21T06:00:01Z":      "1",
			"action=recharge.&from=2026-11-21T06:00:03Z": "4",
			"actor=key_1&to=2026-11-21T06:00:04Z":        "4 1",
		} {
			for _, limit := range []string{"", "&limit=1"} {
				if got, _ := a.seqs(query + limit); got != want {
					t.Errorf("%s%s: got %q, want %q", query, limit, got, want)
				}
			}
		}
		cursor := a.Do(a.Keys[schema.Live], "GET", "/v1/audit?subject=txn_1&limit=1", "").TextAt("next_cursor")
		for query, field := range map[string]string{
			"subject=txn-1": "subject", "subject=%00": "subject", "subject=": "subject", "subject=" + strings.Repeat("a", 65): "subject",
			"actor=a%20b": "actor", "actor=%C3%A9": "actor", "actor=a&actor=b": "actor",
			"action=recharge": "action", "action=.": "action", "action=.create": "action", "action=a.b.c": "action", "action=Recharge.": "action", "action=%25.": "action",
			"action=" + strings.Repeat("a", 64) + ".": "action", "Action=key.": "Action", "cursor=" + cursor: "cursor", "subject=txn_2&cursor=" + cursor: "cursor",
			"subject=txn_1&actor=key_1&cursor=" + cursor: "cursor",
		} {
			a.Do(a.Keys[schema.Live], "GET", "/v1/audit?"+query, "").WantError(t, query, 400, schema.InvalidRequest, field)
		}
	})
}

func TestTheAuditLogIsExported(t *testing.T) {
	t.Parallel()
	eachArchive(t, func(t *testing.T, a archive) {
		a.append(a.In(schema.Live), eventRecorder...)
		export := func(query, as string) accesstest.Reply {
			t.Helper()
			return a.Do(a.Keys[schema.Live], "GET", "/v1/audit?"+query, "", "Accept", as).Want(t, query, 200)
		}
		page := a.Do(a.Keys[schema.Live], "GET", "/v1/audit?action=recharge.", "").Text
		lines := export("action=recharge.", "application/x-ndjson")
		if got := `{"status":"success","data":[` + strings.ReplaceAll(strings.TrimSpace(lines.Text), "\n", ",") + `],"has_more":false,"next_cursor":null}`; got != page {
			t.Errorf("lines: %s", cmp.Diff(page, got))
		}
		sheet := export("subject=txn_1&actor=key_1", "application/json;q=0.5, text/csv")
		if got := sheet.Header.Get("Content-Type"); got != "text/csv; charset=utf-8; header=present" {
			t.Errorf("the type is %q", got)
		}
		records, err := csv.NewReader(strings.NewReader(sheet.Text)).ReadAll()
		switch {
		case err != nil:
			t.Fatal(err)
		case len(records) != 3:
			t.Fatalf("len(records) = %v, want 3", len(records))
		case !strings.HasPrefix(sheet.Text, "seq,at,"):
			t.Fatalf("sheet.Text = %q, want the prefix %q", sheet.Text, "seq,at,")
		case strings.Count(sheet.Text, "\r\n") != 3:
			t.Fatalf("strings.Count(sheet.Text, \"\\r\\n\") = %v, want 3", strings.Count(sheet.Text, "\r\n"))
		}
		want := []string{"1", "2026-11-21T06:00:00.123456Z", "key_1", "recharge.create", "txn_1", "'-req", "192.0.2.1"}
		if diff := cmp.Diff(want, records[2][:7]); diff != "" {
			t.Errorf("the oldest row: %s", diff)
		}
		var detail map[string]any
		if err := json.Unmarshal([]byte(records[2][7]), &detail); err != nil {
			t.Errorf("its detail is %s: %v", records[2][7], err)
		}
		if got, want := detail["name"], "=1+1, \"quoted\""; got != want {
			t.Errorf("the name in its detail is %q, want %q", got, want)
		}
		if got := export("subject=txn_9", "text/csv").Text; got != "seq,at,actor,action,subject,request_id,client,detail,hash\r\n" {
			t.Errorf("of nothing: %q", got)
		}
		for query, field := range map[string]string{"limit=10": "limit", "cursor=x": "cursor", "action=x": "action"} {
			a.Do(a.Keys[schema.Live], "GET", "/v1/audit?"+query, "", "Accept", "text/csv").WantError(t, query, 400, schema.InvalidRequest, field)
		}
		a.Do(a.Keys[schema.Live], "GET", "/v1/audit", "", "Accept", "text/html").WantError(t, "HTML", 406, schema.NotAcceptable, "Accept")
	})
}

func TestNoTextOfACSVIsAFormula(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a=1": "a=1", "=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", "{}": "{}", "é": "é", "'=1": "'=1",
	} {
		if got := audit.Inert(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Rare rows among many are found page by page with a bounded scan each, and an export contains them
// all.
func TestRareRowsOfTheAuditLogAreFound(t *testing.T) {
	t.Parallel()
	eachArchive(t, func(t *testing.T, a archive) {
		const rows = audit.ScanLimit + 10
		a.fill(rows)
		for _, query := range []string{"actor=key_rare", "action=rare.", "subject=whs_1&action=rare.row"} {
			if got, pages := a.seqs(query); got != "1" || pages != 2 {
				t.Errorf("%s: got %q in %d pages, want 1 in 2", query, got, pages)
			}
			lines := a.Do(a.Keys[schema.Live], "GET", "/v1/audit?"+query, "", "Accept", "application/x-ndjson").Text
			if strings.Count(lines, "\n") != 1 {
				t.Errorf("%s: the export is %s", query, lines)
			}
		}
		all := a.Do(a.Keys[schema.Live], "GET", "/v1/audit", "", "Accept", "text/csv").Want(t, "all", 200)
		if n := strings.Count(all.Text, "\r\n"); n != rows+1 {
			t.Errorf("the export of all has %d lines, want %d", n, rows+1)
		}
	})
}

// fill appends rows of one subject, a millisecond apart. The oldest is rare.
func (a archive) fill(rows int) {
	a.t.Helper()
	sqlstoretest.Exec(a.t, a.db, `INSERT INTO audit (account_id, mode, seq, at, actor, action, subject, request_id, client, detail, hash)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		SELECT $2, 'live', i, CAST($3 AS BIGINT) + 1000 * i, CASE i WHEN 1 THEN 'key_rare' ELSE 'key_1' END, CASE i WHEN 1 THEN 'rare.row' ELSE 'key.create' END,
			'whs_' || CAST(1 + i / 20000 AS TEXT), '', '', '{}', $4 FROM n`, rows, a.ID, start.UnixMicro(), make([]byte, 32))
}

func TestTheAuditLogUsesItsIndices(t *testing.T) {
	t.Parallel()
	eachArchive(t, func(t *testing.T, a archive) {
		a.fill(20_000)
		sqlstoretest.Exec(t, a.db, "UPDATE audit SET subject = 'txn_' || CAST(seq / 3 AS TEXT) WHERE seq % 7 > 0")
		sqlstoretest.Exec(t, a.db, "ANALYZE")
		for _, c := range []struct{ subject, actor, action, want string }{
			{want: "audit_at"}, {actor: "key_1", want: "audit_at"}, {action: "rare.", want: "audit_at"},
			{subject: "txn_42", want: "audit_subject"}, {subject: "txn_42", actor: "key_1", action: "key.", want: "audit_subject"},
		} {
			t.Run(fmt.Sprintf("subject=%s actor=%s action=%s", c.subject, c.actor, c.action), func(t *testing.T) {
				query, lowest, args, lowestArgs := audit.Queries(a.In(schema.Live), c.subject, c.actor, c.action, start.UnixMicro()+19_000_000, 19_000)
				for text, args := range map[string][]any{query: args, lowest: lowestArgs} {
					if got := sqlstoretest.Plan(t, a.db, text, args...); !strings.Contains(got, c.want+" ") {
						t.Errorf("the query does not use %s:\n%s\n%s", c.want, text, got)
					}
				}
			})
		}
	})
}
