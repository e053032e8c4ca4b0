// Package live finds new and changed batches for SSE streams.
package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/sse"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// Feed is the sse.Feed of batches. It finds open batches and recently completed ones.
type Feed struct {
	DB      *sqlstore.DB
	Batches []item.Kind
}

// Kinds returns one kind of notices, for all batches. A key may subscribe if it can read at least one kind of batches,
// but gets only the notices of batches that it may read. Kinds implements sse.Feed.
func (f Feed) Kinds() []sse.Kind {
	var scopes []schema.Scope
	for i := range f.Batches {
		scopes = append(scopes, f.Batches[i].Read)
	}
	return []sse.Kind{{Name: schema.LiveBatch, Scopes: scopes}}
}

// maxNotices limits the rows of one query: open batches of some accounts, or recently completed
// batches of all accounts.
const maxNotices = 1000

const liveColumns = "SELECT b.id, b.account_id, b.mode, b.kind, b.state, b.total, b.successful, b.failed FROM "

// selectOpen uses the index batch_open, and selectClosed the index batch_kept.
var selectOpen = sqlstore.NewBatchStatement(1, liveColumns+"(VALUES ", "(?, ?)", `) AS v
	CROSS JOIN batch b WHERE b.account_id = v.column1 AND b.mode = v.column2 AND b.state <> 'completed' LIMIT $1`)

const selectClosed = liveColumns + `batch b WHERE b.kind = $1 AND b.finished_at >= $2 AND b.finished_at IS NOT NULL AND b.emptied_at IS NULL
	ORDER BY b.finished_at LIMIT $3`

// Changes returns notices of the open and the recently completed batches of the owners in `asks`. Each SQL query reads
// at most maxNotices rows. Changes implements sse.Feed.
func (f Feed) Changes(ctx context.Context, asks []sse.Query) (found sse.Result, err error) {
	view := f.DB.View(ctx)
	err = found.Search(&selectOpen, asks, maxNotices, func(text string, asks []sse.Query) ([]sse.Notice, error) {
		args := []any{maxNotices}
		for _, a := range asks {
			args = append(args, a.Account, a.World.String())
		}
		return sqlstore.All(view, f.scan, text, args...)
	})
	if err != nil {
		return sse.Result{}, fmt.Errorf("finding open batches: %w", err)
	}
	since, owners := sse.Since(asks)
	for i := range f.Batches {
		closed, err := f.completed(view, f.Batches[i].Name, since)
		if err != nil {
			return sse.Result{}, err
		}
		if len(closed) == maxNotices {
			found.Cut = sse.Owners(asks)
		}
		for _, n := range closed {
			if !owners[n.Owner] {
				continue
			}
			// A batch that completes between the query of open batches and the query of completed ones is in both
			// results. Drop the older notice, which shows the batch as open.
			found.Notices = slices.DeleteFunc(found.Notices, func(open sse.Notice) bool { return open.ID == n.ID })
			found.Notices = append(found.Notices, n)
		}
	}
	return found, nil
}

func (f Feed) completed(view sqlstore.View, kind string, since time.Time) ([]sse.Notice, error) {
	all, err := sqlstore.All(view, f.scan, selectClosed, kind, since.UnixMicro(), maxNotices)
	if err != nil {
		return nil, fmt.Errorf("finding completed batches: %w", err)
	}
	return all, nil
}

func (f Feed) scan(row sqlstore.Scanner) (sse.Notice, error) {
	var data schema.LiveBatchNotice
	n := sse.Notice{Kind: schema.LiveBatch}
	var mode string
	err := row.Scan(&data.ID, &n.Owner.Account, &mode, &data.Kind, &data.State, &data.Total, &data.Successful, &data.Failed)
	n.Owner.World, n.ID, n.Data = schema.WorldOf(mode), data.ID, data
	for i := range f.Batches {
		if kind := &f.Batches[i]; kind.Name == data.Kind {
			n.Scope = kind.Read
		}
	}
	return n, err
}
