package scales

import (
	"errors"
	"slices"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/scale"
)

// Unscaled is the answer to a query for one place. Unless Whole is true, it still lacks the index on another scale.
type Unscaled struct {
	Resp   httpapi.Response
	Err    error
	Whole  bool // Resp has the index
	Record Record
	Place  Place // whose hourly means the index needs
	Key    Key   // key of the answer in the cache; its City is -1 for an answer that must not be cached
}

// AddMeans adds the hourly means that the answers need. It reads them with one call of `read`.
func AddMeans(all []*Unscaled, on scale.Scale, read func([]Place) ([]Means, error)) {
	all = slices.DeleteFunc(all, func(u *Unscaled) bool { return u.Whole || u.Err != nil })
	if len(all) == 0 || !on.Hourly() {
		return
	}
	places := make([]Place, len(all))
	for i, u := range all {
		places[i] = u.Place
	}
	means, err := read(places)
	problem, down := errors.AsType[*schema.Problem](err)
	for i, u := range all {
		// While ClickHouse is down, a current record still gets the indices that need no hourly means. Any other
		// error is the answer.
		u.Record.Failed = down && problem.Code == schema.ServiceUnavailable && !u.Record.Daily
		if err == nil {
			u.Record.Means = means[i]
		} else if !u.Record.Failed {
			u.Err = err
		}
	}
}

// Answer adds the index on the scale `on` to Resp. It caches Resp if Key has a city, unless reading the means failed.
func (u *Unscaled) Answer(cache *Cache, snap *snapshot.Snapshot, on scale.Scale) (httpapi.Response, error) {
	if u.Whole || u.Err != nil {
		return u.Resp, u.Err
	}
	var body []byte
	if body, u.Err = u.Record.AppendTo(slices.Clone(u.Resp.Body), on); u.Err != nil {
		return u.Resp, u.Err
	}
	made := httpapi.Ready(body, time.Time{})
	made.Measured, made.DataAge, made.Stale = u.Resp.Measured, u.Resp.DataAge, u.Resp.Stale
	if u.Resp, u.Whole = made, true; u.Key.City >= 0 && !u.Record.Failed {
		cache.Put(snap, u.Key, made)
	}
	return made, nil
}
