package transaction

import (
	"fmt"
	"strings"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// statement is a query and its arguments.
type statement struct {
	text string
	args []any
}

// statements returns the queries of a page, some of them from floor on.
func (t *Table[R, P]) statements(f *Filter, floor string) (all []statement) {
	if t.needsScan(f) {
		text, args := t.floorQuery(f)
		all = append(all, statement{text, args})
	} else {
		floor = ""
	}
	text, args := t.query(t.Columns, f, floor)
	all = append(all, statement{text, args})
	text, args = t.totalsQuery(f, []string{"pending", "failed", "success"}, floor)
	return append(all, statement{text, args})
}

// Every list uses an index in its order. Without statistics PostgreSQL assumes small
// tables and sorts; autovacuum collects them within a minute.
func TestListsUseTheirIndices(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		rows := 3_000
		if db.Name() == "postgres" { // which would rather sort what is little
			rows = 60_000
		}
		for name := range tables {
			stands := "CASE WHEN i % 1000 = 1 THEN 'pending' WHEN i % 100 = 0 THEN 'failed' ELSE 'success' END"
			if name == "recharge" {
				stands = "CASE WHEN i % 1000 = 1 THEN 'pending' WHEN i % 100 = 0 THEN 'failed' WHEN i % 100 = 1 THEN 'refunded' ELSE 'success' END"
			}
			insertRows(t, db, name, rows, stands)
		}
		sqlstoretest.Exec(t, db, "INSERT INTO batch_item (batch_id, place, subject, outcome) SELECT 'rbt_' || CAST(batch_index + amount % 7 AS TEXT) || reference, 0, id, 'begun' FROM recharge")
		for _, analyzed := range []bool{false, true} {
			if !analyzed && db.Name() == "postgres" {
				continue
			}
			if analyzed {
				sqlstoretest.Exec(t, db, "ANALYZE")
			}
			for name := range tables {
				indicesOf(t, db, name, analyzed)
			}
			subjects := sqlstoretest.Plan(t, db, selectSubjects, "rbt_1", "")
			if strings.Contains(subjects, "Seq Scan") || strings.Contains(subjects, "SCAN") {
				t.Errorf("(analyzed: %v) reading the subjects of a batch reads all batches:\n%s", analyzed, subjects)
			}
		}
	})
}

// indicesOf checks the query plans of a table.
func indicesOf(t *testing.T, db *sqlstore.DB, name string, analyzed bool) {
	t.Helper()
	table := tables[name]
	cases := map[string]struct {
		change func(*Filter)
		want   []string // one of them; SQLite calls the index of a UNIQUE something else
	}{
		"all":             {func(*Filter) {}, []string{name + "_account "}},
		"the next page":   {func(f *Filter) { f.After = table.rowID(20_000) }, []string{name + "_account "}},
		"a day":           {func(f *Filter) { f.From, f.To = 0, 1_000_000 }, []string{name + "_account "}},
		"successful":      {func(f *Filter) { f.State = "success" }, []string{name + "_account "}},
		"failed":          {func(f *Filter) { f.State = "failed" }, []string{name + "_failed "}},
		"pending":         {func(f *Filter) { f.State = "pending" }, []string{name + "_pending "}},
		"one's reference": {func(f *Filter) { f.Ref = "17" }, table.references},
	}
	if name == "recharge" {
		refunded := cases["failed"]
		refunded.change, refunded.want = func(f *Filter) { f.State = "refunded" }, []string{"recharge_refunded "}
		cases["refunded"] = refunded
		number := cases["failed"]
		number.change, number.want = func(f *Filter) { f.Number = "9876510007" }, []string{"recharge_number "}
		cases["a number"] = number
		hidden := cases["failed"]
		hidden.change, hidden.want = func(f *Filter) { f.Number = "XXXXXX0007" }, []string{"recharge_masked "}
		cases["a masked number"] = hidden
		large := cases["failed"]
		large.change, large.want = func(f *Filter) { f.Where = " AND amount >= 2000" }, []string{"recharge_account "}
		cases["large amounts"] = large
	}
	for what, c := range cases {
		t.Run(fmt.Sprintf("%s, %s, analyzed: %v", name, what, analyzed), func(t *testing.T) {
			f := second()
			f.Scan = 1_000 // of 20,000, as with who has many more than are looked at
			c.change(&f)
			for _, s := range table.statements(&f, table.rowID(1000)) {
				got, used := sqlstoretest.Plan(t, db, s.text, s.args...), false
				for _, index := range c.want {
					used = used || strings.Contains(got+" ", index)
				}
				if !used {
					t.Errorf("no index of %q is used:\n%s\n%s", c.want, s.text, got)
				}
				// PostgreSQL may sort the few that an index has found.
				if strings.Contains(got, "TEMP B-TREE") && f.Ref == "" {
					t.Errorf("SQLite sorts:\n%s\n%s", s.text, got)
				}
			}
		})
	}
	var ids []any
	for i := range 16 {
		ids = append(ids, table.rowID(i))
	}
	byID := table.byID("")
	many := sqlstoretest.Plan(t, db, byID.ForRows(len(ids)), ids...)
	if strings.Contains(many, "Seq Scan") || strings.Contains(many, "SCAN") {
		t.Errorf("%s (analyzed: %v): reading by ids reads the whole table:\n%s", name, analyzed, many)
	}
	records := sqlstoretest.Plan(t, db, table.ofRecords(), "rbt_1", 0, 500)
	if strings.Contains(records, "Seq Scan on "+name) || strings.Contains(records, "SCAN "+name) {
		t.Errorf("%s (analyzed: %v): reading the records of a batch reads the whole table:\n%s", name, analyzed, records)
	}
}
