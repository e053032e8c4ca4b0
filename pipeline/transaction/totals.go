package transaction

import (
	"cmp"
	"fmt"
	"strings"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// totalsMost is the maximum number of rows for complete totals. In BenchmarkTotals, the query of so many rows takes
// 0.3 s on SQLite and 0.6 s on PostgreSQL.
const totalsMost = 100_000

// Total is a number of transactions and the sum of their amounts. Amount is nil for a kind without amounts.
type Total struct {
	Count  int64         `json:"count"`
	Amount *schema.Paise `json:"amount,omitempty"`
}

// StateTotal is the total of the transactions in a state.
type StateTotal struct {
	Status string `json:"status"`
	Total
}

// Totals are the totals of all rows that match a filter, on all pages. Complete is false in two cases: more than
// totalsMost rows match, or a filter without an index would read more than totalsMost rows. Then the totals lack the
// oldest rows.
type Totals struct {
	Complete bool `json:"complete"`
	Total
	States []StateTotal `json:"states"` // states without rows are missing
}

// Totals returns the totals of all rows that a filter selects, and reads at most `most` of them. `states` are the
// states to count.
func (t *Table[R, P]) Totals(q sqlstore.Querier, f Filter, states []string, most int) (Totals, error) {
	all := Totals{Complete: true, States: []StateTotal{}}
	if t.Amount != "" {
		all.Amount = new(schema.Paise)
	}
	if !f.valid() {
		return all, nil
	}
	f.After, f.Limit, f.Scan = "", most, most+1
	floor := ""
	if f.Batch == "" && t.needsScan(&f) {
		least, more, err := t.floor(q, &f)
		if err != nil {
			return all, err
		}
		floor, all.Complete = least, !more
	}
	counts, amounts := make([]int64, len(states)), make([]schema.Paise, len(states))
	var dest []any
	for i := range states {
		dest = append(dest, &counts[i], &amounts[i])
	}
	text, args := t.totalsQuery(&f, states, floor)
	if err := q.QueryRow(text, args...).Scan(dest...); err != nil {
		return all, err
	}
	for i, state := range states {
		if counts[i] == 0 {
			continue
		}
		s := StateTotal{Status: state, Total: Total{Count: counts[i]}}
		all.Count += s.Count
		if all.Amount != nil {
			s.Amount = &amounts[i]
			*all.Amount += amounts[i]
		}
		all.States = append(all.States, s)
	}
	all.Complete = all.Complete && all.Count <= int64(most)
	return all, nil
}

// totalsQuery returns the query for the count and the sum of each state. It selects ids from `floor` on. It counts by
// CASE, because GROUP BY would make SQLite sort the rows.
func (t *Table[R, P]) totalsQuery(f *Filter, states []string, floor string) (string, []any) {
	var begin strings.Builder
	for i, state := range states {
		if i > 0 {
			begin.WriteString(", ")
		}
		fmt.Fprintf(&begin, "COUNT(CASE WHEN state = '%[1]s' THEN 1 END), CAST(COALESCE(SUM(CASE WHEN state = '%[1]s' THEN amount END), 0) AS BIGINT)", state)
	}
	columns := "state, " + cmp.Or(t.Amount, "0") + " AS amount"
	if f.Batch == "" {
		text, args := t.query(columns, f, floor)
		return "SELECT " + begin.String() + " FROM (" + text + ") matching", args
	}
	// With an empty text appended to a column, the database does not use the account's index, which would read more
	// rows than the batch has.
	q := queryBuilder{text: "SELECT " + columns + " FROM " + t.Name + " WHERE id IN (SELECT subject FROM batch_item WHERE subject <> '' AND batch_id = "}
	q.text += q.value(f.Batch) + ") AND account_id || '' = " + q.value(f.Owner.Account) + " AND mode || '' = " + q.value(f.Owner.World.String()) +
		" AND created_at >= " + q.value(f.From) + " AND created_at < " + q.value(f.To)
	if f.Ref != "" {
		q.text += " AND ref_id = " + q.value(f.Ref)
	}
	q.addState(f)
	return "SELECT " + begin.String() + " FROM (" + q.text + f.conditions() + ") matching", q.args
}
