package access

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

// auditScan bounds how many rows one page of the audit log looks at for those that
// no index finds: some milliseconds, and who asks for rare ones asks again.
const auditScan = 10_000

// place is where a row stands in the audit log of an account. Rows of several
// instances need not have been written in the order of their clocks, so time comes
// first and the number in the chain second; those of a subject are in the order of
// the chain, as its index has them.
type place struct{ at, seq int64 }

// String is a place as a cursor keeps it.
func (p place) String() string {
	return strconv.FormatInt(p.at, 10) + " " + strconv.FormatInt(p.seq, 10)
}

// parsePlace reads a place that this service has written itself.
func parsePlace(text string) (p place) {
	first, second, _ := strings.Cut(text, " ")
	p.at, _ = strconv.ParseInt(first, 10, 64)
	p.seq, _ = strconv.ParseInt(second, 10, 64)
	return p
}

// selection is which rows of the audit log are asked for, the newest first.
type selection struct {
	owner                  schema.Owner
	from, to               int64  // microseconds; to is not part of it
	subject, actor, action string // "" for all; an action that ends with a dot stands for all that begin so
}

// start is before the first row.
func (s *selection) start() place {
	if s.subject != "" {
		return place{s.to, math.MaxInt64}
	}
	return place{s.to, math.MinInt64} // before every row of the instant to
}

// auditQuestion is a statement about audit on its way to be one.
type auditQuestion struct {
	text strings.Builder
	args []any
}

// and adds a condition, in which each ? is the next value.
func (q *auditQuestion) and(condition string, values ...any) {
	q.text.WriteString(" AND ")
	for _, value := range values {
		before, after, _ := strings.Cut(condition, "?")
		q.args = append(q.args, value)
		q.text.WriteString(before + "$" + strconv.Itoa(len(q.args)))
		condition = after
	}
	q.text.WriteString(condition)
}

// behind is a question for columns of the rows behind a place that an index finds.
func (s *selection) behind(columns string, after place) *auditQuestion {
	q := &auditQuestion{args: []any{s.owner.Account, s.owner.World.String()}}
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

// order is that of the index.
func (s *selection) order() string {
	if s.subject != "" {
		return " ORDER BY seq DESC"
	}
	return " ORDER BY at DESC, seq DESC"
}

// sifts reports whether rows are looked at that are not asked for.
func (s *selection) sifts() bool {
	return s.actor != "" || s.action != "" || s.subject != "" && (s.from != math.MinInt64 || s.to != math.MaxInt64)
}

// lowest is the statement for the last row that a page looks at.
func (s *selection) lowest(after place) (string, []any) {
	q := s.behind("at, seq", after)
	return q.text.String() + s.order() + " LIMIT 1 OFFSET " + strconv.Itoa(auditScan-1), q.args
}

// query is the statement for so many rows behind a place, down to the floor.
func (s *selection) query(after place, floor *place, limit int) (string, []any) {
	q := s.behind("seq, at, actor, action, subject, request_id, client, detail, hash", after)
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

// page is at most limit rows behind a place, and the place behind which the next
// page begins, nil when this is the last. When it sifts, a page may be short of its
// limit and not the last.
func (s *selection) page(view sqlstore.View, after place, limit int) (rows []storedAudit, next *place, err error) {
	var floor *place
	if s.sifts() {
		var lowest place
		text, args := s.lowest(after)
		switch err := view.QueryRow(text, args...).Scan(&lowest.at, &lowest.seq); {
		case err == nil:
			floor = &lowest
		case !errors.Is(err, sql.ErrNoRows):
			return nil, nil, fmt.Errorf("looking through the audit log: %w", err)
		}
	}
	text, args := s.query(after, floor, limit+1)
	rows, err = sqlstore.All(view, scanAudit, text, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the audit log: %w", err)
	}
	if len(rows) > limit {
		rows = rows[:limit]
		return rows, &place{rows[limit-1].at, rows[limit-1].seq}, nil
	}
	return rows, floor, nil
}

// storedAudit is a row of the audit log with its hash.
type storedAudit struct {
	auditRow
	hash []byte
}

func scanAudit(row sqlstore.Scanner) (r storedAudit, err error) {
	err = row.Scan(&r.seq, &r.at, &r.Actor, &r.Action, &r.Subject, &r.Request, &r.Client, &r.detail, &r.hash)
	return r, err
}
