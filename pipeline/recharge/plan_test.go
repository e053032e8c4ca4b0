package recharge

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"vayu/internal/state"
	"vayu/internal/state/statetest"
	"vayu/schema"
)

// crowded stores so many recharges of three accounts in turn; state is an expression
// of their number i.
func crowded(t *testing.T, db *state.DB, n int, state string) {
	t.Helper()
	for i := range 3 {
		statetest.Exec(t, db, "INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'unlimited', '', 1, 1)", fmt.Sprintf("acc_%d", i))
	}
	statetest.Exec(t, db, `INSERT INTO recharge (id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount, provider, reference, provider_ref,
			sent, tries, told_pending, error_code, error_message, alarm, refund_id, refund_reason, batch_id, batch_index, created_at, finished_at, token)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT 'txn_0000000000000000' || CAST(1000000000 + i AS TEXT), 'acc_' || CAST(i % 3 AS TEXT), 'live', CAST(i AS TEXT),
			`+state+`,
			'prepaid', '9876543210', '', 'Airtel', '', '', 1000, 'courier', CAST(i AS TEXT), '', 1, 0, 0, '', '', '', '', '', '', 0, i, i, '' FROM n`, n)
}

func crowdID(i int) string { return fmt.Sprintf("txn_0000000000000000%d", 1_000_000_000+i) }

// Every list walks an index in its order. Without statistics PostgreSQL takes every
// table for a small one, and sorts; it has them within a minute.
func TestListsUseTheirIndices(t *testing.T) {
	t.Parallel()
	statetest.Each(t, func(t *testing.T, db *state.DB) {
		rows := 3_000
		if db.Name() == "postgres" { // which would rather sort what is little
			rows = 60_000
		}
		crowded(t, db, rows, "CASE WHEN i % 1000 = 1 THEN 'pending' WHEN i % 100 = 0 THEN 'failed' WHEN i % 100 = 1 THEN 'refunded' ELSE 'success' END")
		statetest.Exec(t, db, "INSERT INTO batch_item (batch_id, place, subject, outcome) SELECT 'rbt_' || CAST(batch_index + amount % 7 AS TEXT) || reference, 0, id, 'begun' FROM recharge")
		for _, analyzed := range []bool{false, true} {
			if !analyzed && db.Name() == "postgres" {
				continue
			}
			if analyzed {
				statetest.Exec(t, db, "ANALYZE")
			}
			for name, c := range map[string]struct {
				change func(*filter)
				want   []string // one of them; SQLite calls the index of a UNIQUE something else
			}{
				"all":             {func(*filter) {}, []string{"recharge_account "}},
				"the next page":   {func(f *filter) { f.after = crowdID(20_000) }, []string{"recharge_account "}},
				"a day":           {func(f *filter) { f.from, f.to = 0, 1_000_000 }, []string{"recharge_account "}},
				"successful":      {func(f *filter) { f.state = schema.RechargeSuccess }, []string{"recharge_account "}},
				"failed":          {func(f *filter) { f.state = schema.RechargeFailed }, []string{"recharge_failed "}},
				"refunded":        {func(f *filter) { f.state = schema.RechargeRefunded }, []string{"recharge_refunded "}},
				"pending":         {func(f *filter) { f.state = schema.RechargePending }, []string{"recharge_pending "}},
				"one's reference": {func(f *filter) { f.ref = "17" }, []string{"recharge_account_id_mode_ref_id_key ", "sqlite_autoindex_recharge_2 "}},
			} {
				f := filter{owner: schema.Owner{Account: "acc_1"}, from: math.MinInt64, to: math.MaxInt64, limit: 100, scan: scanMost}
				c.change(&f)
				floor := ""
				statements := map[string][]any{}
				if f.unindexed() != "" {
					text, args := f.lowest()
					statements[text], floor = args, crowdID(1000)
				}
				text, args := f.query(floor)
				statements[text] = args
				for text, args := range statements {
					got, used := statetest.Plan(t, db, text, args...), false
					for _, index := range c.want {
						used = used || strings.Contains(got+" ", index)
					}
					// PostgreSQL may sort the few that an index has found.
					if !used || strings.Contains(got, "TEMP B-TREE") && f.ref == "" {
						t.Errorf("%s (analyzed: %v) does not use %q alone:\n%s\n%s", name, analyzed, c.want, text, got)
					}
				}
			}
			many := statetest.Plan(t, db, selectRecords[len(selectRecords)-1], group(16)...)
			if strings.Contains(many, "Seq Scan") || strings.Contains(many, "SCAN") {
				t.Errorf("(analyzed: %v) reading by ids reads the whole table:\n%s", analyzed, many)
			}
			subjects := statetest.Plan(t, db, selectSubjects, "rbt_1", "")
			if strings.Contains(subjects, "Seq Scan") || strings.Contains(subjects, "SCAN") {
				t.Errorf("(analyzed: %v) a batch's recharges are looked for in all batches:\n%s", analyzed, subjects)
			}
		}
	})
}

func group(n int) (ids []any) {
	for i := range n {
		ids = append(ids, crowdID(i))
	}
	return ids
}

// A rare state is looked for in bounds, so that no list holds up the store.
func TestARareStateIsLookedForPageByPage(t *testing.T) {
	t.Parallel()
	statetest.Each(t, func(t *testing.T, db *state.DB) {
		const scan = 200
		crowded(t, db, 3*(2*scan+10), "CASE WHEN i = 1 THEN 'success' ELSE 'failed' END") // the oldest
		f := filter{owner: schema.Owner{Account: "acc_1"}, from: math.MinInt64, to: math.MaxInt64, limit: 100, scan: scan, state: schema.RechargeSuccess}
		var pages []string
		for {
			all, next, err := f.page(db.View(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			ids := ""
			for _, r := range all {
				ids += r.ID
			}
			pages = append(pages, ids)
			if f.after = next; next == "" {
				break
			}
		}
		if got, want := strings.Join(pages, ","), ",,"+crowdID(1); got != want {
			t.Errorf("got the pages %q, want %q", got, want)
		}
	})
}
