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

type filter struct {
	account, mode string
	typ           string // "" for all
	// readable are the types that the key may read; nil for all. If it contains every type, the query has no condition on
	// the type.
	readable []schema.EventType
	subject  string // "" for all
	from, to int64  // microseconds; `to` is exclusive
	after    string // id; "" for the first page
	limit    int
	newest   bool // the newest event comes first
}

// idRange is a range of event ids. If the newest event comes first, the range includes the id `lower` and excludes
// `upper`. Otherwise it excludes `lower` and includes `upper`.
type idRange struct{ lower, upper string }

// condition returns the SQL condition for an idRange whose bounds are $3 and $4, and the ORDER BY clause.
func (f filter) condition() (ids, order string) {
	if f.newest {
		return "id >= $3 AND id < $4", " ORDER BY id DESC"
	}
	return "id > $3 AND id <= $4", " ORDER BY id"
}

// ids returns the range of ids that the filter's times and its page allow.
func (f filter) ids() idRange {
	ids := idRange{idAt(f.from), idAt(min(f.to, math.MaxInt64-999) + 999)}
	switch {
	case !f.newest:
		ids.lower = max(f.after, ids.lower)
	case f.after != "":
		ids.upper = min(f.after, ids.upper)
	}
	return ids
}

// scanMost is the maximum number of events that one request scans if the filter has a condition on types, but no
// subject. Scanning that many takes 20 ms. The client can continue the scan with the cursor.
const scanMost = 10_000

// find returns a page of envelopes, in the order of the filter, and the id after which the next page begins; "" on the
// last page. If scanMost ends the scan, a page may be shorter than the limit although more pages follow.
//
// An id contains the time of its event in milliseconds, so a time range is a range of ids. A condition on created_at
// makes the range exact. A subject (the recharge or other thing that an event is about) has few events. So a page with
// a subject scans all of them.
func (f filter) find(view sqlstore.View) (envelopes []json.RawMessage, next string, err error) {
	ids := f.ids()
	more := "" // id at which this request ends its scan; "" if it scans all events
	if (f.typ != "" || schema.HidesCustomerEvents(f.readable)) && f.subject == "" {
		within, order := f.condition()
		err := view.QueryRow("SELECT id FROM event WHERE account_id = $1 AND mode = $2 AND "+within+order+" LIMIT 1 OFFSET $5",
			f.account, f.mode, ids.lower, ids.upper, scanMost-1).Scan(&more)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return nil, "", err
		case f.newest:
			ids.lower = more
		default:
			ids.upper = more
		}
	}
	type row struct {
		id       string
		envelope []byte
	}
	text, args := f.query(ids.lower, ids.upper)
	rows, err := sqlstore.All(view, func(s sqlstore.Scanner) (r row, err error) {
		err = s.Scan(&r.id, &r.envelope)
		return r, err
	}, text, args...)
	if err != nil {
		return nil, "", err
	}
	switch {
	case len(rows) > f.limit:
		rows = rows[:f.limit]
		next = rows[f.limit-1].id
	default:
		next = more
	}
	envelopes = make([]json.RawMessage, len(rows))
	for i := range rows {
		envelopes[i] = rows[i].envelope
	}
	return envelopes, next, nil
}

// query returns the statement that reads the matching events between two ids. It reads up to one event more than the
// limit, to detect a next page.
func (f filter) query(lower, upper string) (text string, args []any) {
	within, order := f.condition()
	text = "SELECT id, envelope FROM event WHERE account_id = $1 AND mode = $2 AND " + within + `
		AND created_at >= $5 AND created_at < $6 AND (CAST($7 AS TEXT) = '' OR type = $7)`
	args = []any{f.account, f.mode, lower, upper, f.from, f.to, f.typ, f.limit + 1}
	if f.subject != "" {
		text += " AND subject = $9 AND subject <> ''" // the partial index requires subject <> ''
		args = append(args, f.subject)
	}
	if f.readable != nil && len(f.readable) < len(schema.EventTypes) {
		text += " AND type IN ("
		for i, t := range f.readable {
			if i > 0 {
				text += ", "
			}
			args = append(args, string(t))
			text += "$" + strconv.Itoa(len(args))
		}
		text += ")"
	}
	return text + order + " LIMIT $8", args
}
