package audit

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// scanLimit is the largest number of rows that one page scans for filters without an index. A scan takes some
// milliseconds. If it finds few rows, the page is short, and the client continues with the cursor of the page.
const scanLimit = 10_000

// position is the position of a row in a list from the audit log. A list is in the order of time, then of the row
// number. The two orders can differ, because the clocks of instances differ. A list about one subject (the id of
// the changed object) is in the order of row numbers only.
type position struct{ at, seq int64 }

// String formats a position for a cursor.
func (p position) String() string {
	return strconv.FormatInt(p.at, 10) + " " + strconv.FormatInt(p.seq, 10)
}

// parsePosition parses a position that String formatted.
func parsePosition(text string) (p position) {
	first, second, _ := strings.Cut(text, " ")
	p.at, _ = strconv.ParseInt(first, 10, 64)
	p.seq, _ = strconv.ParseInt(second, 10, 64)
	return p
}

// selection is a query of the audit log, newest first.
type selection struct {
	owner                  schema.Owner
	from, to               int64  // microseconds; `to` is excluded
	subject, actor, action string // "" for all; an action that ends with a dot is a prefix
}

// start returns the position before the first row of the selection.
func (s *selection) start() position {
	if s.subject != "" {
		return position{s.to, math.MaxInt64}
	}
	return position{s.to, math.MinInt64} // after every row whose time is s.to, which is excluded
}

// statement builds an SQL statement on table audit.
type statement struct {
	text strings.Builder
	args []any
}

// and adds a condition to the WHERE clause. Each ? in the condition stands for the next value.
func (q *statement) and(condition string, values ...any) {
	q.text.WriteString(" AND ")
	for _, value := range values {
		before, after, _ := strings.Cut(condition, "?")
		q.args = append(q.args, value)
		q.text.WriteString(before + "$" + strconv.Itoa(len(q.args)))
		condition = after
	}
	q.text.WriteString(condition)
}

// after returns the start of a statement for the rows after a position, with the conditions that an index supports.
func (s *selection) after(columns string, after position) *statement {
	q := &statement{args: []any{s.owner.Account, s.owner.World.String()}}
	q.text.WriteString("SELECT " + columns + " FROM audit WHERE account_id = $1 AND mode = $2")
	if s.subject != "" {
		q.and("subject = ?", s.subject)
		q.and("seq < ?", after.seq)
		return q
	}
	q.and("at >= ?", s.from)
	q.and("at <= ?", after.at)
	q.and("(at < ? OR seq < ?)", after.at, after.seq)
	return q
}

// order returns the ORDER BY clause. Rows have the order of the index that the query uses.
func (s *selection) order() string {
	if s.subject != "" {
		return " ORDER BY seq DESC"
	}
	return " ORDER BY at DESC, seq DESC"
}

// filters reports whether the query scans rows that it does not return.
func (s *selection) filters() bool {
	return s.actor != "" || s.action != "" || s.subject != "" && (s.from != math.MinInt64 || s.to != math.MaxInt64)
}

// lowest returns a statement that finds the last row that a page may scan: scanLimit rows after the given position.
func (s *selection) lowest(after position) (string, []any) {
	q := s.after("at, seq", after)
	return q.text.String() + s.order() + " LIMIT 1 OFFSET " + strconv.Itoa(scanLimit-1), q.args
}

// query returns a statement for at most `limit` rows after a position. If `floor` is set, no row after it is selected.
func (s *selection) query(after position, floor *position, limit int) (string, []any) {
	q := s.after("seq, at, actor, action, subject, request_id, client, detail, hash", after)
	if s.subject != "" {
		q.and("at >= ?", s.from)
		q.and("at < ?", s.to)
	}
	if s.actor != "" {
		q.and("actor = ?", s.actor)
	}
	switch n := len(s.action); {
	case n == 0:
	case s.action[n-1] == '.':
		q.and("substr(action, 1, "+strconv.Itoa(n)+") = ?", s.action)
	default:
		q.and("action = ?", s.action)
	}
	switch {
	case floor == nil:
	case s.subject != "":
		q.and("seq >= ?", floor.seq)
	default:
		q.and("at >= ?", floor.at)
		q.and("(at > ? OR seq >= ?)", floor.at, floor.seq)
	}
	q.args = append(q.args, limit)
	return q.text.String() + s.order() + " LIMIT $" + strconv.Itoa(len(q.args)), q.args
}

// page returns at most `limit` rows after a position, and the position after which the next page starts. The position
// is nil for the last page. With filters, a page that is not the last may have fewer than `limit` rows.
func (s *selection) page(view sqlstore.View, after position, limit int) (rows []hashedRow, next *position, err error) {
	var floor *position
	if s.filters() {
		var lowest position
		text, args := s.lowest(after)
		switch err := view.QueryRow(text, args...).Scan(&lowest.at, &lowest.seq); {
		case err == nil:
			floor = &lowest
		case !errors.Is(err, sql.ErrNoRows):
			return nil, nil, fmt.Errorf("scanning the audit log: %w", err)
		}
	}
	text, args := s.query(after, floor, limit+1)
	rows, err = sqlstore.All(view, scanRow, text, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the audit log: %w", err)
	}
	if len(rows) > limit {
		rows = rows[:limit]
		return rows, &position{rows[limit-1].at, rows[limit-1].seq}, nil
	}
	return rows, floor, nil
}

// hashedRow is a row of the audit log with its hash.
type hashedRow struct {
	chainRow
	hash []byte
}

func scanRow(row sqlstore.Scanner) (r hashedRow, err error) {
	err = row.Scan(&r.seq, &r.at, &r.Actor, &r.Action, &r.Subject, &r.Request, &r.Client, &r.detail, &r.hash)
	return r, err
}
