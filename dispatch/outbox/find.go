package outbox

import (
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// filter is what a list of events is asked for.
type filter struct {
	account, mode string
	typ           string // "" for all
	// readable are the types that the key may read; nil for all. If they are all
	// types there is no condition, so that the usual list costs nothing.
	readable []schema.EventType
	subject  string // "" for all
	from, to int64  // microseconds; to is not part of it
	after    string // id; "" for the first page
	limit    int
}

// scanMost bounds how many events one request looks at for those of a type: 20 ms,
// and who asks for a rare one asks again.
const scanMost = 10_000

// find returns a page of envelopes, the oldest first, and the id after which the
// next page begins, "" when this is the last. With a type a page may be short of
// its limit and not the last, and so it may for a key that may not read all types.
//
// The time in an id is that of its event, so a range of time is one of the index.
// Bounds are to the millisecond; created_at says it exactly. A subject has a handful
// of events, which are looked through at once.
func (a filter) find(view sqlstore.View) (envelopes []json.RawMessage, next string, err error) {
	lower := max(a.after, idAt(a.from))
	upper := idAt(min(a.to, math.MaxInt64-999) + 999)
	more := false // behind upper
	if (a.typ != "" || a.restricted()) && a.subject == "" {
		var end string
		err := view.QueryRow(`SELECT id FROM event WHERE account_id = $1 AND mode = $2 AND id > $3 AND id <= $4
			ORDER BY id LIMIT 1 OFFSET $5`, a.account, a.mode, lower, upper, scanMost-1).Scan(&end)
		switch {
		case err == nil:
			upper, more = end, true
		case !errors.Is(err, sql.ErrNoRows):
			return nil, "", err
		}
	}
	type row struct {
		id       string
		envelope []byte
	}
	text, args := a.query(lower, upper)
	rows, err := sqlstore.All(view, func(s sqlstore.Scanner) (r row, err error) {
		err = s.Scan(&r.id, &r.envelope)
		return r, err
	}, text, args...)
	if err != nil {
		return nil, "", err
	}
	switch {
	case len(rows) > a.limit:
		rows = rows[:a.limit]
		next = rows[a.limit-1].id
	case more:
		next = upper
	}
	envelopes = make([]json.RawMessage, len(rows))
	for i := range rows {
		envelopes[i] = rows[i].envelope
	}
	return envelopes, next, nil
}

// query is the statement for one more than the limit of those between two ids.
func (a filter) query(lower, upper string) (text string, args []any) {
	text = `SELECT id, envelope FROM event WHERE account_id = $1 AND mode = $2 AND id > $3 AND id <= $4
		AND created_at >= $5 AND created_at < $6 AND (CAST($7 AS TEXT) = '' OR type = $7)`
	args = []any{a.account, a.mode, lower, upper, a.from, a.to, a.typ, a.limit + 1}
	if a.subject != "" {
		text += " AND subject = $9 AND subject <> ''" // that none is empty is what the index asks for
		args = append(args, a.subject)
	}
	if a.restricted() {
		text += " AND type IN ("
		for i, t := range a.readable {
			if i > 0 {
				text += ", "
			}
			args = append(args, string(t))
			text += "$" + strconv.Itoa(len(args))
		}
		text += ")"
	}
	return text + " ORDER BY id LIMIT $8", args
}

// restricted reports whether there are types of events that the key may not read.
func (a filter) restricted() bool {
	return a.readable != nil && len(a.readable) < len(schema.EventTypes)
}
