package query

import (
	"context"
	"time"

	"vayu/internal/live"
	"vayu/schema"
)

// Live is the feed of live notices about the air: the same for every account of a
// world.
func (s *Service) Live() live.Feed { return feed{s} }

type feed struct{ *Service }

// Kinds implements live.Feed.
func (feed) Kinds() []live.Kind {
	return []live.Kind{{Name: schema.LiveAir, Scopes: []schema.Scope{schema.AQIRead}}}
}

// Changes implements live.Feed. It reads memory only: which snapshot there is.
func (f feed) Changes(_ context.Context, asks []live.Ask) (found live.Found, err error) {
	for _, a := range asks {
		snap := f.airs[a.World].snapshot.Load()
		if snap == nil || snap.newest() == 0 {
			continue
		}
		found.Notices = append(found.Notices, live.Notice{
			Owner: a.Owner, Kind: schema.LiveAir, Scope: schema.AQIRead,
			Data: schema.LiveAirNotice{
				Updated: instant(snap.newest()).Format(time.RFC3339), Cities: len(snap.cities), Built: snap.built.UTC().Format(time.RFC3339),
			},
		})
	}
	return found, nil
}
