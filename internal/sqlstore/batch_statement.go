package sqlstore

import (
	"math/bits"
	"strconv"
	"strings"
)

// groupForms is the number of texts of a BatchStatement: for 1, 2, 4, 8 and 16 rows. With powers of two a connection
// prepares five texts of each statement, not dozens. Larger groups are slower, because SQLite searches the names of all
// parameters for each value. Storing a delivery takes 83 µs in groups of 256 rows and 27 µs in groups of 16
// (BenchmarkGroup in dispatch/delivery).
const groupForms = 5

// BatchStatement is an SQL statement for any number of rows. It has a text for each group size: 1, 2, 4, 8 and 16.
type BatchStatement [groupForms]string

// NewBatchStatement makes the texts of a statement: `head`, a copy of `row` for each row, separated by commas, and
// `tail`. Each ? of `row` becomes a numbered placeholder. `head` and `tail` may use the first `fixed` placeholders.
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

// Each splits n rows into groups. It calls `do` with the text for each group and the range [from, to) of its rows.
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

// ForRows returns the text for a group of n rows. n must be a group size: 1, 2, 4, 8 or 16.
func (g *BatchStatement) ForRows(n int) string { return g[sizeOf(n)] }

// sizeOf returns the index of the text for the largest group of at most n rows. n is at least 1.
func sizeOf(n int) int { return min(bits.Len(uint(n)), groupForms) - 1 }

// ExistingIDs returns which of the `ids` exist in a table. The parameters of the statement are ids, and the statement
// selects those ids that are in the table.
func ExistingIDs(q Querier, statement *BatchStatement, ids []string) (map[string]bool, error) {
	there := map[string]bool{}
	err := statement.Each(len(ids), func(text string, from, to int) error {
		args := make([]any, 0, to-from)
		for _, id := range ids[from:to] {
			args = append(args, id)
		}
		return Each(q, func(row Scanner) error {
			id, err := Scalar[string](row)
			there[id] = true
			return err
		}, text, args...)
	})
	return there, err
}
