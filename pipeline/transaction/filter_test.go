package transaction

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// The search for a rare state is bounded for each page.
func TestRareStateSearchIsBounded(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		for name, table := range tables {
			const scan = 200
			insertRows(t, db, name, 3*(2*scan+10), "CASE WHEN i = 1 THEN 'success' ELSE 'failed' END") // the oldest
			f := second()
			f.Scan, f.State = scan, "success"
			if diff := cmp.Diff([][]string{nil, nil, {table.rowID(1)}}, allPages(t, db, table.Table, f)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// Totals read a bounded number of rows, and say so.
func TestTotalsAreBounded(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		for name, table := range tables {
			insertRows(t, db, name, 300, "CASE WHEN i % 2 = 1 THEN 'failed' ELSE 'success' END") // 100 of the second account, half of them failed
			for what, c := range map[string]struct {
				change   func(*Filter)
				most     int
				want     int64
				complete bool
			}{
				"all":                    {func(*Filter) {}, 100, 100, true},
				"one too many":           {func(*Filter) {}, 99, 100, false},
				"an indexed state":       {func(f *Filter) { f.State = "failed" }, 50, 50, true},
				"too many of it":         {func(f *Filter) { f.State = "failed" }, 20, 21, false},
				"the most frequent":      {func(f *Filter) { f.State = "success" }, 100, 50, true},
				"too many rows read":     {func(f *Filter) { f.State = "success" }, 49, 25, false},
				"a page does not matter": {func(f *Filter) { f.Limit, f.After = 2, table.rowID(10) }, 100, 100, true},
			} {
				t.Run(name+", "+what, func(t *testing.T) {
					f := second()
					c.change(&f)
					got, err := table.Totals(db.View(t.Context()), f, []string{"pending", "failed", "success"}, c.most)
					if err != nil {
						t.Fatal(err)
					}
					if got.Count != c.want || got.Complete != c.complete {
						t.Errorf("got %d, complete %t; want %d, %t", got.Count, got.Complete, c.want, c.complete)
					}
					if name == "recharge" && *got.Amount != schema.Paise(1000*c.want) {
						t.Errorf("got %d paise, want %d", *got.Amount, 1000*c.want)
					}
				})
			}
		}
	})
}

func TestFilters(t *testing.T) {
	t.Parallel()
	const batchID, foreign = "bat_01KAJ0C4E6G8J0M2P4R6T8V0X2", "bat_01KAJ0C4E6G8J0M2P4R6T8V0X3"
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		for name := range tables {
			insertRows(t, db, name, 30, "CASE WHEN i % 2 = 1 THEN 'failed' ELSE 'success' END") // 1, 4, 7 … are the second account's
		}
		for id, owner := range map[string]string{batchID: "acc_1", foreign: "acc_0"} {
			sqlstoretest.Exec(t, db, `INSERT INTO batch (id, account_id, mode, kind, ref_id, fingerprint, state, total, successful, failed, key_id, request_id, client, created_at)
				VALUES ($1, $2, 'live', 'any', NULL, $3, 'processing', 9, 0, 0, '', '', '', 0)`, id, owner, []byte("x"))
		}
		place := 0
		for _, table := range tables {
			for _, i := range []int{1, 4, 6, 7} { // 6 is another's
				sqlstoretest.Exec(t, db, "INSERT INTO batch_item (batch_id, place, subject, outcome) VALUES ($1, $2, $3, 'begun')", batchID, place, table.rowID(i))
				place++
			}
			sqlstoretest.Exec(t, db, "INSERT INTO batch_item (batch_id, place, subject, outcome) VALUES ($1, $2, $3, 'begun')", foreign, place, table.rowID(10))
			place++
		}
		sqlstoretest.Exec(t, db, "INSERT INTO batch_item (batch_id, place, subject, outcome) VALUES ($1, 99, '', 'failed')", batchID)
		for name, table := range tables {
			for what, c := range map[string]struct {
				change func(*Filter)
				want   string
			}{
				"all":                    {func(*Filter) {}, "28 25 22 19 16 13 10 7 4 1"},
				"pages":                  {func(f *Filter) { f.Limit = 4 }, "28 25 22 19, 16 13 10 7, 4 1"},
				"a state":                {func(f *Filter) { f.State, f.Limit = "failed", 3 }, "25 19 13, 7 1"},
				"the most frequent":      {func(f *Filter) { f.State, f.Limit = "success", 3 }, "28 22 16, 10 4"},
				"another world":          {func(f *Filter) { f.Owner.World = schema.Sandbox }, ""},
				"a time":                 {func(f *Filter) { f.From, f.To = 4, 10 }, "7 4"},
				"a reference":            {func(f *Filter) { f.Ref = "7" }, "7"},
				"with its state":         {func(f *Filter) { f.Ref, f.State = "7", "failed" }, "7"},
				"with another":           {func(f *Filter) { f.Ref, f.State = "7", "success" }, ""},
				"another's":              {func(f *Filter) { f.Ref = "9" }, ""},
				"what is none":           {func(f *Filter) { f.Ref = "7\x00" }, ""},
				"a batch":                {func(f *Filter) { f.Batch, f.Limit = batchID, 2 }, "7 4, 1"},
				"a state of it":          {func(f *Filter) { f.Batch, f.State, f.Limit = batchID, "failed", 1 }, "7, 1"},
				"a reference of it":      {func(f *Filter) { f.Batch, f.Ref = batchID, "7" }, "7"},
				"another's batch":        {func(f *Filter) { f.Batch = foreign }, ""},
				"no batch":               {func(f *Filter) { f.Batch = "bat_\x00" }, ""},
				"a time of it, exactly":  {func(f *Filter) { f.Batch, f.From, f.To = batchID, 4, 7 }, "4"},
				"an empty one's reading": {func(f *Filter) { f.Ref = "4" }, map[string]string{"recharge": "4"}[name]}, // a verification without
			} {
				t.Run(name+", "+what, func(t *testing.T) {
					f := second()
					c.change(&f)
					if got := numbers(allPages(t, db, table.Table, f)); got != c.want {
						t.Errorf("got %q, want %q", got, c.want)
					}
				})
			}
		}
	})
}

// Small pages read a batch in few chunks, and every record once.
func TestSmallPagesReadFewChunks(t *testing.T) {
	t.Parallel()
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	for first, want := range map[int]int{2: 21, 51: 21, 1_001: 10, 20_000: 1} {
		var got []string
		n := 0
		for some := range chunks(ids, first) {
			got = append(got, some...)
			n++
		}
		if n != want || !slices.Equal(got, ids) {
			t.Errorf("first %d: %d ids in %d pieces, want %d", first, len(got), n, want)
		}
	}
}

// A page continues in the next chunk of a batch until it is full.
func TestPageContinuesInNextChunk(t *testing.T) {
	t.Parallel()
	const batchID, n = "bat_01KAJ0C4E6G8J0M2P4R6T8V0X2", 2*minChunk + 300
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		for name, table := range tables {
			// Two in one piece, one in each of the others, and the oldest.
			insertRows(t, db, name, 3*n, fmt.Sprintf("CASE WHEN i IN (1, %d, %d, %d, %d) THEN 'failed' ELSE 'success' END", 3*200+1, 3*minChunk+1, 3*(2*minChunk)+1, 3*(2*minChunk+1)+1))
			sqlstoretest.Exec(t, db, "DELETE FROM batch")
			sqlstoretest.Exec(t, db, "DELETE FROM batch_item")
			sqlstoretest.Exec(t, db, `INSERT INTO batch (id, account_id, mode, kind, ref_id, fingerprint, state, total, successful, failed, key_id, request_id, client, created_at)
				VALUES ($1, 'acc_1', 'live', 'any', NULL, $2, 'processing', 9, 0, 0, '', '', '', 0)`, batchID, []byte("x"))
			sqlstoretest.Exec(t, db, "INSERT INTO batch_item (batch_id, place, subject, outcome) SELECT CAST($1 AS TEXT), created_at, id, 'begun' FROM "+name+" WHERE account_id = 'acc_1'", batchID)
			for limit, want := range map[int]string{1: "3004, 3001, 1501, 601, 1", 2: "3004 3001, 1501 601, 1", 100: "3004 3001 1501 601 1"} {
				f := second()
				f.Batch, f.State, f.Limit = batchID, "failed", limit
				if got := numbers(allPages(t, db, table.Table, f)); got != want {
					t.Errorf("%s, pages of %d: got %q, want %q", name, limit, got, want)
				}
			}
		}
	})
}

// numbers returns the row numbers of the ids of pages.
func numbers(pages [][]string) string {
	var texts []string
	for _, ids := range pages {
		var page []string
		for _, id := range ids {
			page = append(page, number(id))
		}
		texts = append(texts, strings.Join(page, " "))
	}
	return strings.Join(texts, ", ")
}

// number returns the row number of an id of rowID.
func number(id string) string {
	var n int
	_, _ = fmt.Sscanf(id[len("txn_0000000000000000"):], "%d", &n)
	return fmt.Sprint(n - 1_000_000_000)
}

// Rows with and without a reference are read the same way.
func TestByID(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		for name, table := range tables {
			insertRows(t, db, name, 40, "'success'")
			var ids, want []string
			for i := range 40 {
				ids = append(ids, table.rowID(i))
				want = append(want, fmt.Sprint(i))
			}
			found, err := table.byIDs(db.View(t.Context()), append(ids, table.rowID(41)), "")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, id := range ids {
				if r, ok := found[id]; ok && r.ID == id {
					got = append(got, number(id))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(found) != len(ids) {
				t.Errorf("%s, of %d (-want +got):\n%s", name, len(found), diff)
			}
		}
	})
}
