package dump_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/dump"
	"vayu/internal/sqlstore/sqlstoretest"
)

// accounts is more than one batch of rows.
const accounts = 250

// populate inserts rows with every kind of value into tables that refer to others.
func populate(tb testing.TB, db *sqlstore.DB) {
	tb.Helper()
	err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
		if _, err := tx.Exec("INSERT INTO setting (name, value) VALUES ('key', $1)", "हिन्दी \u2028 <&> \"quoted\" \\ \n"); err != nil {
			return err
		}
		for i := range accounts {
			id := fmt.Sprintf("acc_%03d", accounts-i)
			var null *int64
			for _, row := range []struct {
				sql  string
				args []any
			}{
				{"UPDATE access_revision SET n = n + 1", nil},
				{"INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'free', '', $2, $3)", []any{id, math.MaxInt64 - int64(i), i}},
				{`INSERT INTO api_key (id, account_id, mode, name, hash, prefix, last_four, scopes, allow_list, require_signature, signing_secret, created_at, expires_at, revoked_at, rotated_from, revision)
					VALUES ($1, $2, 'live', '', $3, '', '', '', '', 0, $4, $5, $6, $6, NULL, 1)`, []any{"key_" + id, id, []byte(id), []byte{}, math.MinInt64, null}},
				{"INSERT INTO api_key_use (key_id, used_at) VALUES ($1, $2)", []any{"key_" + id, int64(1<<53 + 1)}},
				{"INSERT INTO idempotent_reply (account_id, mode, key, fingerprint, status, body, expires_at) VALUES ($1, 'live', 'k', $2, 200, $3, 1)", []any{id, []byte{0, 0xff}, make([]byte, 1000)}},
				{"INSERT INTO audit (account_id, mode, seq, at, actor, action, subject, request_id, client, detail, hash) VALUES ($1, 'live', 1, 2, '', '', '', '', '', '{}', $2)", []any{id, []byte(id)}},
			} {
				if _, err := tx.Exec(row.sql, row.args...); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// contents reads the lines of every file of a dump, sorted.
func contents(tb testing.TB, dir string) map[string][]string {
	tb.Helper()
	m, err := dump.ReadManifest(dir)
	if err != nil {
		tb.Fatal(err)
	}
	unpacker, err := zstd.NewReader(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer unpacker.Close()
	all := map[string][]string{}
	for _, t := range m.Tables {
		packed, err := os.ReadFile(filepath.Join(dir, t.File))
		if err != nil {
			tb.Fatal(err)
		}
		text, err := unpacker.DecodeAll(packed, nil)
		if err != nil {
			tb.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if t.Rows != 0 && int(t.Rows) != len(lines) {
			tb.Errorf("%s has %d lines, and the manifest has %d", t.File, len(lines), t.Rows)
		}
		slices.Sort(lines)
		all[t.Name] = lines
	}
	return all
}

func write(tb testing.TB, db *sqlstore.DB) (dir string, m dump.Manifest) {
	tb.Helper()
	dir = filepath.Join(tb.TempDir(), "dump")
	m, err := dump.Write(context.Background(), db, dir)
	if err != nil {
		tb.Fatal(err)
	}
	return dir, m
}

// A dump from each engine loads into each, value by value.
func TestDumpLoadsIntoEachEngine(t *testing.T) {
	t.Parallel()
	for from, source := range sqlstoretest.Fresh {
		for into, target := range sqlstoretest.Fresh {
			t.Run(from+" to "+into, func(t *testing.T) {
				t.Parallel()
				db := sqlstoretest.Open(t, source(t))
				populate(t, db)
				dir, m := write(t, db)
				// Besides the rows of populate, the counters of the migrations have a row each.
				if want := int64(5*accounts + 4); m.Engine != from || m.Rows() != want {
					t.Errorf("the manifest has %q and %d rows, want %q and %d", m.Engine, m.Rows(), from, want)
				}
				c := target(t)
				if err := dump.Load(t.Context(), c, dir, nil); err != nil {
					t.Fatal(err)
				}
				restored := sqlstoretest.Open(t, c)
				again, _ := write(t, restored)
				if diff := cmp.Diff(contents(t, dir), contents(t, again)); diff != "" {
					t.Errorf("the restored store (-want +got):\n%s", diff)
				}
				var secret bool
				if err := restored.View(t.Context()).QueryRow("SELECT count(signing_secret) = $1 FROM api_key", accounts).Scan(&secret); err != nil {
					t.Fatal(err)
				}
				if !secret {
					t.Error("empty bytes came back as NULL")
				}
				if err := dump.Load(t.Context(), target(t), dir+"x", nil); err == nil {
					t.Error("a dump that is not there was restored")
				}
			})
		}
	}
}

// A newer program loads the dump and migrates it.
func TestLoadMigratesOlderDump(t *testing.T) {
	t.Parallel()
	for name, target := range sqlstoretest.Fresh {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			older := sqlstoretest.Open(t, sqlstore.Config{Data: t.TempDir(), Version: 1})
			populate(t, older)
			dir, m := write(t, older)
			if m.Version != 1 || m.Rows() != 5*accounts+2 {
				t.Errorf("the manifest has version %d and %d rows, want 1 and %d", m.Version, m.Rows(), 5*accounts+2)
			}
			c := target(t)
			if err := dump.Load(t.Context(), c, dir, nil); err != nil {
				t.Fatal(err)
			}
			db, stop := sqlstoretest.Start(t, c)
			again, now := write(t, db)
			if now.Version < 2 {
				t.Errorf("the restored store is at version %d", now.Version)
			}
			want, got := contents(t, dir), contents(t, again)
			for table, column := range map[string]string{"account": "name_tolerance", "api_key": "member_id"} { // of later migrations
				for i, row := range got[table] {
					got[table][i] = strings.Replace(row, `,"`+column+`":null`, "", 1)
				}
			}
			for table := range want {
				if diff := cmp.Diff(want[table], got[table]); diff != "" {
					t.Errorf("table %s (-want +got):\n%s", table, diff)
				}
			}
			if diff := cmp.Diff([]string{`{"id":1,"n":0}`}, got["webhook_revision"]); diff != "" {
				t.Errorf("rows of the later migration (-want +got):\n%s", diff)
			}
			stop()
			empty := target(t)
			_, stop = sqlstoretest.Start(t, empty) // creates the newest tables
			stop()
			if err := dump.Load(t.Context(), empty, dir, nil); err == nil || !strings.Contains(err.Error(), "where no store is yet") {
				t.Errorf("into newer tables: got %v", err)
			}
		})
	}
}

func TestLoadRejectsStoreWithAccounts(t *testing.T) {
	t.Parallel()
	for name, config := range sqlstoretest.Fresh {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			db, stop := sqlstoretest.Start(t, c)
			populate(t, db)
			dir, _ := write(t, db)
			if _, err := dump.Write(t.Context(), db, dir); err == nil || !strings.Contains(err.Error(), "not empty") {
				t.Errorf("a second dump into one folder gave %v", err)
			}
			if name == "sqlite" {
				if err := dump.Load(t.Context(), c, dir, nil); err == nil || !strings.Contains(err.Error(), "is held by") {
					t.Errorf("beside a service Load gave %v", err)
				}
			}
			stop()
			if err := dump.Load(t.Context(), c, dir, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprint(accounts, " accounts")) {
				t.Errorf("got %v, want that there are accounts", err)
			}
		})
	}
}

// Load names the damaged file and changes nothing.
func TestLoadRejectsDamagedDump(t *testing.T) {
	t.Parallel()
	source := sqlstoretest.SQLite(t)
	populate(t, source)
	flip := func(at int) func([]byte) []byte {
		return func(text []byte) []byte { text[(at+len(text))%len(text)] ^= 1; return text }
	}
	for name, c := range map[string]struct {
		file   string
		damage func([]byte) []byte
		want   string
	}{
		"first byte":     {"account.ndjson.zst", flip(0), "account.ndjson.zst"},
		"in the middle":  {"audit.ndjson.zst", flip(100), "audit.ndjson.zst"},
		"last byte":      {"api_key.ndjson.zst", flip(-1), "api_key.ndjson.zst"},
		"cut":            {"api_key.ndjson.zst", func(b []byte) []byte { return b[:len(b)/2] }, "api_key.ndjson.zst"},
		"cut to nothing": {"audit.ndjson.zst", func([]byte) []byte { return nil }, "audit.ndjson.zst"},
		"longer":         {"audit.ndjson.zst", func(b []byte) []byte { return append(b, 0) }, "audit.ndjson.zst"},
		"another row": {"setting.ndjson.zst", func([]byte) []byte {
			w, _ := zstd.NewWriter(nil)
			return w.EncodeAll([]byte(`{"name":"key","value":"other"}`+"\n"), nil)
		}, "setting.ndjson.zst"},
		"fewer rows in the manifest": {"manifest.json", func(b []byte) []byte { return []byte(strings.Replace(string(b), `"rows": 250`, `"rows": 249`, 1)) }, "account.ndjson.zst"},
		"another version":            {"manifest.json", func(b []byte) []byte { return []byte(strings.Replace(string(b), `"version": `, `"version": 99`, 1)) }, "of version 99"},
		"another format":             {"manifest.json", func(b []byte) []byte { return []byte(strings.Replace(string(b), "state-1", "state-2", 1)) }, "state-2"},
		"no JSON":                    {"manifest.json", func(b []byte) []byte { return b[1:] }, "manifest.json is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := write(t, source)
			path := filepath.Join(dir, c.file)
			bytes, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.damage(bytes), 0o600); err != nil {
				t.Fatal(err)
			}
			target := sqlstore.Config{Data: t.TempDir()}
			if err := dump.Load(t.Context(), target, dir, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			db := sqlstoretest.Open(t, target)
			var n int
			if err := db.View(t.Context()).QueryRow("SELECT (SELECT count(*) FROM account) + (SELECT n FROM access_revision)").Scan(&n); err != nil || n != 0 {
				t.Errorf("after the error the store has accounts: %d, %v", n, err)
			}
		})
	}
}

// Writers continue during the dump. The counter and the rows that it counts are in different tables, read at
// different times.
func TestDumpIsConsistentSnapshot(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		for worker := range 4 {
			wait.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					_ = db.Update(ctx, func(tx *sqlstore.Tx) error {
						if _, err := tx.Exec("UPDATE access_revision SET n = n + 1"); err != nil {
							return err
						}
						_, err := tx.Exec("INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ($1, $2, $3)", fmt.Sprint(worker, "_", i), []byte{1}, i)
						return err
					})
				}
			})
		}
		for range 5 {
			dir, m := write(t, db)
			i := slices.IndexFunc(m.Tables, func(t dump.Table) bool { return t.Name == "seen_signature" })
			var counter struct{ N int64 }
			if err := json.Unmarshal([]byte(contents(t, dir)["access_revision"][0]), &counter); err != nil {
				t.Error(err)
			}
			if counter.N != m.Tables[i].Rows {
				t.Errorf("the counter of the dump is %d, and it has %d rows", counter.N, m.Tables[i].Rows)
			}
		}
		cancel()
		wait.Wait()
	})
}
