package sqlstore

import (
	"math/bits"
	"strconv"
	"strings"
)

// groupForms is how many sizes a statement for many rows has: 1, 2, 4, 8 and 16
// rows. Powers of two, so that a connection prepares five forms of each and not
// dozens. SQLite looks for the name of every value among all of its statement's,
// so that with 256 rows a value costs ten times what it does with 16
// (BenchmarkGroup in dispatch/delivery: 83 µs a delivery and 27); to PostgreSQL it is the same.
const groupForms = 5

// Grouped is a statement about any number of rows: one text for each size of a
// group.
type Grouped [groupForms]string

// Group makes the texts of a statement: head, one row after the other with commas
// between, and tail. Each ? of row is a value of its own; those of head and tail
// are numbered by hand, from $1, and are so many as fixed says.
func Group(fixed int, head, row, tail string) (all Grouped) {
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

// Each cuts n rows into groups and calls do with the text for the rows from and
// up to to.
func (g *Grouped) Each(n int, do func(text string, from, to int) error) error {
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

// Of is the text for exactly n rows, as Each has cut them.
func (g *Grouped) Of(n int) string { return g[sizeOf(n)] }

// sizeOf is the largest form for at most n rows, n from 1.
func sizeOf(n int) int { return min(bits.Len(uint(n)), groupForms) - 1 }

// Present asks which of some ids there are. The statement selects one column, the
// id, where it is among those of the rows.
func Present(q Querier, statement *Grouped, ids []string) (map[string]bool, error) {
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
	if err != nil {
		return nil, err
	}
	return there, nil
}
