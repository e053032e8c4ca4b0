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

// Kinds returns the only kind of notices of a Feed: events. It implements sse.Feed.
func (Feed) Kinds() []sse.Kind {
	return []sse.Kind{{Name: schema.LiveEvent, Scopes: []schema.Scope{schema.WebhooksManage}}}
}

// feedLimit bounds the rows that one statement reads for a group of accounts.
const feedLimit = 1000

// selectSince reads the new events of some owners (account and world) by the index event_account,
// from a given id of each owner. CROSS JOIN fixes the join order in SQLite. There is no ORDER BY,
// because the statement would then read all rows before the LIMIT applies.
var selectSince = sqlstore.NewBatchStatement(1, "SELECT e.id, e.account_id, e.mode, e.type, e.subject, e.created_at FROM (VALUES ", "(?, ?, ?)", `) AS v
	CROSS JOIN event e WHERE e.account_id = v.column1 AND e.mode = v.column2 AND e.id >= v.column3 LIMIT $1`)

// Changes returns notices of new events. It implements sse.Feed.
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
