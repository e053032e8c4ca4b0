package sqlstore

import (
	"math/bits"
	"strconv"
	"strings"
)

// groupForms is how many sizes a statement for many rows has: 1, 2, 4, 8 and 16 rows. With powers of two a
// connection prepares five forms of each statement, not dozens. SQLite searches all parameter names for each
// value, so 256 rows make a value ten times as slow as 16 do. (BenchmarkGroup in dispatch/delivery: 83 µs a
// delivery against 27.) PostgreSQL shows no difference.
const groupForms = 5

// BatchStatement is a statement about any number of rows, as one text for each of 1, 2, 4, 8 and 16 rows.
type BatchStatement [groupForms]string

// NewBatchStatement makes the texts of a statement: head, the rows separated by commas, and tail. Each ? of row
// is a separate value. The placeholders of head and tail are numbered by hand, from $1 to fixed.
func NewBatchStatement(fixed int, head, row, tail string) (all BatchStatement) {
	parts := strings.Split(row, "?")
	for form := range all {
		var b strings.Builder
		b.WriteString(head)
		n := fixed
		for i := range 1 << form {
			if i > 0 {
				b.WriteString(", ")
			}
			for j, part := range parts {
				if j > 0 {
					n++
					b.WriteString("$" + strconv.Itoa(n))
				}
				b.WriteString(part)
			}
		}
		b.WriteString(tail)
		all[form] = b.String()
	}
	return all
}

// Each splits n rows into groups and calls do for each group, with its text and the range of its rows. to is
// exclusive.
func (g *BatchStatement) Each(n int, do func(text string, from, to int) error) error {
	for from := 0; from < n; {
		form := sizeOf(n - from)
		to := from + 1<<form
		if err := do(g[form], from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// ForRows returns the text for a group of n rows. n must be the size of a group of Each.
func (g *BatchStatement) ForRows(n int) string { return g[sizeOf(n)] }

// sizeOf returns the index of the text for the most rows that are not more than n, which is at least 1.
func sizeOf(n int) int { return min(bits.Len(uint(n)), groupForms) - 1 }

// ExistingIDs returns which of the ids exist. The rows of the statement are ids, and it selects those that a
// table has.
func ExistingIDs(q Querier, statement *BatchStatement, ids []string) (map[string]bool, error) {
	there := map[string]bool{}
	err := statement.Each(len(ids), func(text string, from, to int) error {
		args := make([]any, 0, to-from)
		for _, id := range ids[from:to] {
			args = append(args, id)
		}
		return Each(q, func(row Scanner) error {
			var id string
			err := row.Scan(&id)
			there[id] = true
			return err
		}, text, args...)
	})
	return there, err
}
