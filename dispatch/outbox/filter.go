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
	// readable are the types that the key may read; nil for all. If the key may read every type, the query has no
	// condition on the type.
	readable []schema.EventType
	subject  string // "" for all
	from, to int64  // microseconds; to is exclusive
	after    string // id; "" for the first page
	limit    int
}

// scanMost bounds the events that one request scans if the filter has a condition on types, but no subject. A scan of
// so many events takes 20 ms. The client continues the scan with the cursor.
const scanMost = 10_000

// find returns a page of envelopes, oldest first, and the id after which the next page
// begins; "" on the last page. If scanMost applies, other pages may also be shorter than the limit.
//
// An id contains the time of its event in milliseconds, so a time range is a range of ids. A
// condition on created_at makes the range exact. A subject (the recharge or the like that events
// are about) has few events, so one page scans them all.
func (a filter) find(view sqlstore.View) (envelopes []json.RawMessage, next string, err error) {
	lower := max(a.after, idAt(a.from))
	upper := idAt(min(a.to, math.MaxInt64-999) + 999)
	more := false // whether there may be events after the id upper
	if (a.typ != "" || schema.HidesCustomerEvents(a.readable)) && a.subject == "" {
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

// query returns the statement that reads matching events between two ids, at most one event
// more than the limit.
func (a filter) query(lower, upper string) (text string, args []any) {
	text = `SELECT id, envelope FROM event WHERE account_id = $1 AND mode = $2 AND id > $3 AND id <= $4
		AND created_at >= $5 AND created_at < $6 AND (CAST($7 AS TEXT) = '' OR type = $7)`
	args = []any{a.account, a.mode, lower, upper, a.from, a.to, a.typ, a.limit + 1}
	if a.subject != "" {
		text += " AND subject = $9 AND subject <> ''" // the condition of the partial index
		args = append(args, a.subject)
	}
	if a.readable != nil && len(a.readable) < len(schema.EventTypes) {
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
