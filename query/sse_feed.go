package query

import (
	"context"

	"vayu/internal/sse"
	"vayu/query/aggregate"
	"vayu/schema"
)

// Live returns the feed of notices about new figures for SSE streams. All accounts of a world get the same notices.
func (s *Service) Live() sse.Feed { return feed{s} }

type feed struct{ *Service }

// Kinds returns the only kind of notice of this feed, with the scope that a key needs for it. It implements
// sse.Feed.
func (feed) Kinds() []sse.Kind {
	return []sse.Kind{{Name: schema.LiveAir, Scopes: []schema.Scope{schema.AQIRead}}}
}

// Changes returns one notice for each query whose world has figures. It reads only the snapshot in memory. It
// implements sse.Feed.
func (f feed) Changes(_ context.Context, asks []sse.Query) (found sse.Result, err error) {
	for _, a := range asks {
		snap := f.worlds[a.World].publisher.Latest()
		if snap == nil || snap.Newest() == 0 {
			continue
		}
		found.Notices = append(found.Notices, sse.Notice{
			Owner: a.Owner, Kind: schema.LiveAir, Scope: schema.AQIRead,
			Data: schema.LiveAirNotice{
				Updated: schema.FormatTime(aggregate.Instant(snap.Newest())), Cities: len(snap.Cities), Built: schema.FormatTime(snap.Built),
			},
		})
	}
	return found, nil
}
