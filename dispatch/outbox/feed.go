package outbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/sse"
	"vayu/schema"
)

// Feed finds new events for SSE streams (Server-Sent Events).
type Feed struct{ DB *sqlstore.DB }

// Kinds implements sse.Feed. A Feed has one kind of notices: events.
func (Feed) Kinds() []sse.Kind {
	return []sse.Kind{{Name: schema.LiveEvent, Scopes: []schema.Scope{schema.WebhooksManage}}}
}

// feedLimit is the maximum number of rows that one statement reads for a group of accounts.
const feedLimit = 1000

// selectSince reads new events by the index event_account. Its values are owners (account and world), each with the id
// at which the owner's new events start. CROSS JOIN fixes the join order in SQLite. There is no ORDER BY, because the
// statement would then read all rows before the LIMIT applies.
var selectSince = sqlstore.NewBatchStatement(1, "SELECT e.id, e.account_id, e.mode, e.type, e.subject, e.created_at FROM (VALUES ", "(?, ?, ?)", `) AS v
	CROSS JOIN event e WHERE e.account_id = v.column1 AND e.mode = v.column2 AND e.id >= v.column3 LIMIT $1`)

// Changes implements sse.Feed. It returns notices of new events.
func (f Feed) Changes(ctx context.Context, asks []sse.Query) (found sse.Result, err error) {
	view := f.DB.View(ctx)
	err = found.Search(&selectSince, asks, feedLimit, func(text string, asks []sse.Query) ([]sse.Notice, error) {
		args := []any{feedLimit}
		for _, a := range asks {
			args = append(args, a.Account, a.World.String(), idAt(a.Since.UnixMicro()))
		}
		return sqlstore.All(view, scanNotice, text, args...)
	})
	if err != nil {
		return sse.Result{}, fmt.Errorf("reading new events: %w", err)
	}
	slices.SortFunc(found.Notices, func(a, b sse.Notice) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}

func scanNotice(row sqlstore.Scanner) (sse.Notice, error) {
	var data schema.LiveEventNotice
	n := sse.Notice{Kind: schema.LiveEvent, Scope: schema.WebhooksManage}
	var mode string
	var created int64
	err := row.Scan(&data.ID, &n.Owner.Account, &mode, &data.Type, &data.Subject, &created)
	n.SubjectScope = data.Type.Scope()
	data.Created = time.UnixMicro(created).Unix()
	n.Owner.World, n.ID, n.Data = schema.WorldOf(mode), data.ID, data
	return n, err
}
