package query

import (
	"context"

	"vayu/internal/sse"
	"vayu/schema"
)

// Live returns the feed of notices about new figures for SSE streams. It is the
// same for every account of a world.
func (s *Service) Live() sse.Feed { return feed{s} }

type feed struct{ *Service }

// Kinds implements sse.Feed.
func (feed) Kinds() []sse.Kind {
	return []sse.Kind{{Name: schema.LiveAir, Scopes: []schema.Scope{schema.AQIRead}}}
}

// Changes implements sse.Feed. It compares snapshots in memory only.
func (f feed) Changes(_ context.Context, asks []sse.Query) (found sse.Result, err error) {
	for _, a := range asks {
		snap := f.worlds[a.World].snapshot.Load()
		if snap == nil || snap.newest() == 0 {
			continue
		}
		found.Notices = append(found.Notices, sse.Notice{
			Owner: a.Owner, Kind: schema.LiveAir, Scope: schema.AQIRead,
			Data: schema.LiveAirNotice{
				Updated: schema.FormatTime(instant(snap.newest())), Cities: len(snap.cities), Built: schema.FormatTime(snap.built),
			},
		})
	}
	return found, nil
}
