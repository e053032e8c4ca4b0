package collect

import (
	"context"
	"time"

	"vayu/ingest/backfill"
	"vayu/ingest/progress"
	"vayu/internal/sqlstore"
	"vayu/schema"
	"vayu/schema/air"
)

// Progress returns a function that reads the progress of each source of a world, by the name of the source. local has
// the meaning of [Config.Local].
func Progress(db *sqlstore.DB, local string) func(context.Context, schema.World) (map[string]*air.SourceProgress, error) {
	return func(ctx context.Context, w schema.World) (map[string]*air.SourceProgress, error) {
		scope := progress.Scope(w, local)
		all, err := progress.New(db, scope, time.Now).Sources(ctx)
		if err != nil {
			return nil, err
		}
		jobs, err := backfill.New(db, scope, time.Now).Last(ctx)
		if err != nil {
			return nil, err
		}
		for name, j := range jobs {
			if all[name] == nil {
				all[name] = &air.SourceProgress{Oldest: []air.PartitionProgress{}}
			}
			all[name].Backfill = &air.SourceBackfill{
				State: string(j.State), From: j.Window.From, To: j.Window.To, Fraction: j.Fraction, Partitions: j.Parts,
				Complete: j.Complete, Failing: j.Failing, Stored: j.Stored, Requests: j.Requests, StartedAt: j.Created, AdvancedAt: j.Updated,
			}
		}
		return all, nil
	}
}
