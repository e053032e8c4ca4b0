package audit_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func appendRow(db *sqlstore.DB, id string, world schema.World, n int) error {
	return db.Update(context.Background(), func(tx *sqlstore.Tx) error {
		return audit.Append(tx, start.Add(time.Duration(n)*time.Second), audit.Entry{
			Account: id, World: world, Actor: "key_1", Action: "key.create", Subject: fmt.Sprint("key_", n),
			Request: "req_1", Client: "192.0.2.1", Detail: map[string]any{"b": 1, "a": []string{"<x>"}, "n": n},
		})
	})
}

func verify(t testing.TB, db *sqlstore.DB, id string) []audit.Report {
	t.Helper()
	var all []audit.Report
	if err := audit.Verify(context.Background(), db, id, func(r audit.Report) { all = append(all, r) }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestConcurrentAppendsKeepChainsValid(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		one, other := insertAccount(t, db, "one"), insertAccount(t, db, "other")
		const writers, each = 64, 5
		running, stop := context.WithCancel(context.Background())
		checked := make(chan struct{})
		go func() { // a verification meanwhile finds no fault
			defer close(checked)
			for running.Err() == nil {
				const pages = 7 // rows each
				err := audit.VerifyPages(context.Background(), db, "", pages, func(r audit.Report) {
					if r.Reason != "" {
						t.Errorf("while others append: %+v", r)
					}
				})
				if err != nil {
					t.Error(err)
				}
			}
		}()
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for n := range each {
					id, world := one, schema.Live
					switch w % 4 {
					case 1:
						id = other
					case 2:
						world = schema.Sandbox
					}
					if err := appendRow(db, id, world, w*each+n); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		stop()
		<-checked
		rows := int64(0)
		for _, r := range verify(t, db, "") {
			if r.Reason != "" {
				t.Errorf("%+v", r)
			}
			rows += r.Rows
		}
		if rows != writers*each {
			t.Errorf("%d rows, want %d", rows, writers*each)
		}
	})
}

func TestVerifyAuditFindsTampering(t *testing.T) {
	t.Parallel()
	const swap = `UPDATE audit SET seq = CASE seq WHEN -1 THEN 2 ELSE 4 END WHERE seq < 0`
	cases := []struct {
		name  string
		do    []string
		wrong int64
		why   string
	}{
		{"at", []string{"UPDATE audit SET at = at + 1 WHERE seq = 3"}, 3, "hash"},
		{"actor", []string{"UPDATE audit SET actor = 'key_2' WHERE seq = 1"}, 1, "hash"},
		{"action", []string{"UPDATE audit SET action = 'key.revoke' WHERE seq = 5"}, 5, "hash"},
		{"subject", []string{"UPDATE audit SET subject = '' WHERE seq = 3"}, 3, "hash"},
		{"request", []string{"UPDATE audit SET request_id = 'req_2' WHERE seq = 3"}, 3, "hash"},
		{"client", []string{"UPDATE audit SET client = '192.0.2.2' WHERE seq = 3"}, 3, "hash"},
		{"a border between columns", []string{"UPDATE audit SET actor = 'key_1k', action = 'ey.create' WHERE seq = 3"}, 3, "hash"},
		{"detail", []string{"UPDATE audit SET detail = '{}' WHERE seq = 3"}, 3, "hash"},
		{"a blank in detail", []string{"UPDATE audit SET detail = detail || ' ' WHERE seq = 3"}, 3, "hash"},
		{"hash", []string{"UPDATE audit SET hash = (SELECT hash FROM audit WHERE seq = 2) WHERE seq = 3"}, 3, "hash"},
		{"mode", []string{"UPDATE audit SET mode = 'sandbox' WHERE seq = 3"}, 3, "missing"},
		{"seq", []string{"UPDATE audit SET seq = 7 WHERE seq = 5"}, 5, "missing"},
		{"a row too early", []string{"UPDATE audit SET seq = 0 WHERE seq = 1"}, 0, "begins with row 1"},
		{"the first row is gone", []string{"DELETE FROM audit WHERE seq = 1"}, 1, "missing"},
		{"a row in the middle is gone", []string{"DELETE FROM audit WHERE seq = 3"}, 3, "missing"},
		{"the last row is gone", []string{"DELETE FROM audit WHERE seq = 5"}, 5, "missing"},
		{"all rows are gone", []string{"DELETE FROM audit"}, 1, "missing"},
		{"the chain is gone", []string{"DELETE FROM audit", "DELETE FROM audit_head"}, 1, "the chain was removed"},
		{"the head is gone", []string{"DELETE FROM audit_head"}, 1, "no head"},
		{"the head is behind", []string{"UPDATE audit_head SET seq = 4"}, 5, "names row 4"},
		{"the head's hash", []string{"UPDATE audit_head SET hash = (SELECT hash FROM audit WHERE seq = 2)"}, 5, "head of the chain"},
		{"two rows are swapped", []string{
			"UPDATE audit SET seq = -1 WHERE seq = 4", "UPDATE audit SET seq = -2 WHERE seq = 2", swap,
		}, 2, "hash"},
	}
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		id := insertAccount(t, db, "one")
		for n := range 5 {
			if err := appendRow(db, id, schema.Live, n); err != nil {
				t.Fatal(err)
			}
		}
		switch got := verify(t, db, id); {
		case len(got) != 1:
			t.Fatalf("before: len(got) = %v, want 1", len(got))
		case got[0].Account != id:
			t.Fatalf("before: got[0].Account = %v, want %v", got[0].Account, id)
		case got[0].World != schema.Live:
			t.Fatalf("before: got[0].World = %v, want %v", got[0].World, schema.Live)
		case got[0].Rows != 5:
			t.Fatalf("before: got[0].Rows = %v, want 5", got[0].Rows)
		case got[0].Reason != "":
			t.Fatalf("before: got[0].Reason = %q, want none", got[0].Reason)
		}
		run(t, db, `INSERT INTO api_key (id, account_id, mode, name, hash, prefix, last_four, scopes, allow_list, require_signature, created_at, revision)
			SELECT 'key_1', id, 'live', '', '', '', '', '', '', 0, 0, 0 FROM account`)
		columns := []string{"account_id", "mode", "seq", "at", "actor", "action", "subject", "request_id", "client", "detail", "hash"}
		list := strings.Join(columns, ", ")
		run(t, db, "CREATE TABLE audit_copy AS SELECT "+list+" FROM audit", "CREATE TABLE head_copy AS SELECT account_id, mode, seq, hash FROM audit_head")
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				defer func() {
					run(t, db, "DELETE FROM audit", "DELETE FROM audit_head",
						"INSERT INTO audit ("+list+") SELECT "+list+" FROM audit_copy",
						"INSERT INTO audit_head (account_id, mode, seq, hash) SELECT account_id, mode, seq, hash FROM head_copy")
				}()
				run(t, db, c.do...)
				for _, size := range []int{1, 2, 100} {
					found := false
					err := audit.VerifyPages(context.Background(), db, "", size, func(r audit.Report) {
						if r.World == schema.Live {
							found = r.Reason != "" && r.Wrong == c.wrong && strings.Contains(r.Reason, c.why)
							if !found {
								t.Errorf("%+v, want row %d, %q", r, c.wrong, c.why)
							}
						}
					})
					if err != nil {
						t.Errorf("pages of %d: %v", size, err)
					}
					if !found {
						t.Errorf("it is not found in pages of %d", size)
					}
				}
			})
		}
		if got := verify(t, db, id); got[0].Reason != "" {
			t.Errorf("after: %+v", got)
		}
	})
}

func TestVerifyAuditOfUnknownAccountFails(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	err := audit.Verify(context.Background(), db, "acc_none", func(audit.Report) { t.Error("there is a report") })
	if err == nil || !strings.Contains(err.Error(), "acc_none") {
		t.Errorf("got %v", err)
	}
}

// run executes statements in one transaction.
func run(t testing.TB, db *sqlstore.DB, statements ...string) {
	t.Helper()
	err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
		for _, statement := range statements {
			if _, err := tx.Exec(statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// start is the time of the first row.
var start = time.Date(2026, 11, 21, 6, 0, 0, 123456000, time.UTC)

// insertAccount inserts an account without keys.
func insertAccount(t testing.TB, db *sqlstore.DB, name string) (id string) {
	t.Helper()
	id = "acc_" + name
	sqlstoretest.Exec(t, db, "INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $2, 'unlimited', '', 0, 0)", id, name)
	return id
}

// A transaction appends its rows at its end, to each chain with one statement.
func TestOneChangeAppendsToManyChains(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		one, other := insertAccount(t, db, "one"), insertAccount(t, db, "other")
		const rows = 40
		for range 2 {
			if err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
				for n := range rows {
					for _, id := range []string{other, one} {
						if err := audit.Append(tx, start.Add(time.Duration(n)*time.Second), audit.Entry{Account: id, Actor: "key_1", Action: "key.create", Subject: fmt.Sprint("key_", n)}); err != nil {
							return err
						}
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		reports := verify(t, db, "")
		for _, r := range reports {
			if r.Reason != "" || r.Rows != 2*rows {
				t.Errorf("got %+v, want %d rows and no fault", r, 2*rows)
			}
		}
		if len(reports) != 2 {
			t.Errorf("%d chains were verified, want 2", len(reports))
		}
		subjects, err := sqlstore.All(db.View(t.Context()), sqlstore.Scalar[string], "SELECT subject FROM audit WHERE account_id = $1 ORDER BY seq", one)
		if err != nil || len(subjects) != 2*rows || subjects[1] != "key_1" || subjects[rows+17] != "key_17" {
			t.Errorf("got %q, %v, want the subjects in the order of Append", subjects, err)
		}
	})
}
