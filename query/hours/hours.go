// Package hours answers GET /v1/hours: the figures of all stations in one hour.
package hours

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vayu/internal/httpapi"
	"vayu/query/param"
	"vayu/query/rollup"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// Params returns the names of the query parameters.
func Params() []string { return []string{"hour", "limit", "cursor"} }

const (
	// cachedHours is the largest number of hours in memory for a world. It is a week.
	cachedHours = 168
	// cachedFigures limits the stations in all these hours together. Each needs 48 bytes.
	cachedFigures = 200_000
)

// figures are those of a station in an hour.
type figures struct {
	station int32 // in the snapshot
	updated uint32
	aqi     int16 // -1 for none
	amount  [rollup.Records]schema.Figure
}

// Cache keeps hours until the next snapshot, because roll-ups of late readings change them. The zero value is empty. It is
// safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	of    *snapshot.Snapshot
	hours *lru.Cache[uint32, []figures] // by the end of the hour in Unix seconds
}

// Slots limits how many queries each account has in flight. history.Slots implements it.
type Slots interface {
	Acquire(ctx context.Context, account string) (release func(), err error)
}

// Answer returns a page of the stations of a snapshot that have figures in the hour of the parameters. An hour that is not
// in the cache takes one of the account's slots. The error is a *schema.Problem if a parameter is invalid.
func (c *Cache) Answer(call *httpapi.Call, t rollup.Tables, s *snapshot.Snapshot, slots Slots, now time.Time) (resp httpapi.Response, err error) {
	if err := param.Texts(call.Params); err != nil {
		return resp, err
	}
	at, err := parse(call.Params, s, now)
	if err != nil {
		return resp, err
	}
	all, ok := c.get(s, at)
	if !ok {
		release, err := slots.Acquire(call.Context(), call.Account)
		if err != nil {
			return resp, err
		}
		defer release()
		if all, err = read(call.Context(), t, s, at); err != nil {
			return resp, rollup.Unavailable(err)
		}
		c.add(s, at, all)
	}
	id := func(i int) string { return s.Stations[all[i].station].ID }
	hour := rollup.Instant(at)
	from, to, next, err := station.PageRange(call.Params, "hours "+hour.Format(time.RFC3339), len(all), id)
	if err != nil {
		return resp, err
	}
	reply := air.HourReply{Status: schema.Success, Hour: hour, Data: make([]air.HourEntry, 0, to-from), HasMore: next != nil, NextCursor: next}
	for i := from; i < to; i++ {
		reply.Data = append(reply.Data, entry(id(i), &all[i]))
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return resp, fmt.Errorf("rendering an hour: %w", err)
	}
	return httpapi.Ready(body, time.Time{}), nil
}

// parse returns the end of the hour in Unix seconds. Without the parameter hour, it is the newest current hour.
func parse(params map[string]string, s *snapshot.Snapshot, now time.Time) (uint32, error) {
	text, ok := params["hour"]
	if !ok {
		if at := s.Newest(); at > 0 {
			return at, nil
		}
		return uint32(schema.HourEnd(now.Add(-time.Hour)).Unix()), nil
	}
	at, err := time.Parse(time.RFC3339, strings.Replace(text, " ", "+", 1)) // a plus sign that is not escaped is a blank
	switch {
	case err != nil || !at.Equal(schema.HourEnd(at)) || at.Unix() < 0:
		return 0, param.Invalid("hour", "The hour must be the end of a full hour in India, for example 2026-11-20T08:30:00Z.")
	case at.After(now):
		return 0, param.Invalid("hour", "The hour ends in the future.")
	}
	return uint32(at.Unix()), nil
}

// read reads the figures of the stations with a reading in an hour, sorted by id.
func read(ctx context.Context, t rollup.Tables, s *snapshot.Snapshot, at uint32) (all []figures, err error) {
	ctx, cancel := context.WithTimeout(ctx, rollup.QueryTimeout)
	defer cancel()
	var id string
	var row rollup.Scanned
	err = t.Each(ctx, row.Into(&id), func() {
		f := row.Figures()
		if i, ok := s.ByID[id]; ok { // else it is the station of an account, or newer than the snapshot
			all = append(all, figures{station: i, updated: f.Updated, aqi: f.AQI, amount: f.Amount})
		}
	}, t.SQL("SELECT station, "+rollup.StationFigures+` FROM %s.station_hour FINAL
		PREWHERE at = toDateTime({at:UInt32}, 'UTC') WHERE updated > at - 3600`), rollup.Number("at", at))
	if err != nil {
		return nil, fmt.Errorf("reading the stations of an hour: %w", err)
	}
	slices.SortFunc(all, func(a, b figures) int { return int(a.station - b.station) }) // the stations of a snapshot are sorted by id
	return all, nil
}

// get returns an hour of a snapshot, if it is in the cache.
func (c *Cache) get(s *snapshot.Snapshot, at uint32) ([]figures, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != s {
		return nil, false
	}
	return c.hours.Get(at)
}

// add keeps an hour of a snapshot, unless the cache has a newer one.
func (c *Cache) add(s *snapshot.Snapshot, at uint32, all []figures) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != s {
		if c.of != nil && s.Built.Before(c.of.Built) {
			return
		}
		c.of = s
		c.hours, _ = lru.New[uint32, []figures](min(cachedHours, 1+cachedFigures/max(1, len(s.Stations)))) // fails only for a size below 1
	}
	c.hours.Add(at, all)
}

func entry(id string, f *figures) air.HourEntry {
	e := air.HourEntry{
		Station: id, PM25: f.amount[0], PM10: f.amount[1], NO2: f.amount[2], SO2: f.amount[3], CO: f.amount[4], O3: f.amount[5],
		Updated: rollup.Instant(f.updated),
	}
	if f.aqi >= 0 {
		name := naqi.Category(int(f.aqi))
		e.AQI, e.Category = snapshot.OptionalAQI(f.aqi), &name
	}
	return e
}
