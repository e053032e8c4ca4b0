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
	"vayu/query/aggregate"
	"vayu/query/param"
	"vayu/query/scales"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
	"vayu/schema/scale"
)

// Params returns the names of the query parameters. The parameter scale is the id of a scale of package schema/scale.
func Params() []string { return []string{"hour", "scale", "limit", "cursor"} }

const (
	// cachedHours is the largest number of hours in memory for a world: the hours of a week.
	cachedHours = 168
	// cachedFigures is the largest number of figures (one for each station and hour) in memory for a world. Each
	// needs 80 bytes. With many stations, the cache therefore has fewer than cachedHours hours.
	cachedFigures = 200_000
	// cachedPages is the largest number of pages with a scale in memory for a world. The largest page has 1 MB.
	cachedPages = 32
)

// figures are the figures of one station in one hour.
type figures struct {
	aggregate.Figures
	station int32 // index in Snapshot.Stations
}

// page is the key of a cached page: the stations from index `from` to index `to` in the hour `at`, with their air
// quality index on a scale.
type page struct {
	at       uint32
	on       scale.Scale
	from, to int
}

// Cache keeps hours until the next snapshot, because late readings can change the figures of an hour. The zero value is
// an empty cache. Cache is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	of    *snapshot.Snapshot
	hours *lru.Cache[uint32, []figures] // by the end of the hour in Unix seconds
	pages *lru.Cache[page, []byte]      // replies
}

// Slots limits how many queries each account has in flight. history.Slots implements it.
type Slots interface {
	Acquire(ctx context.Context, account string) (release func(), err error)
}

// Answer returns a page of the stations of snapshot s that have a reading in the requested hour, by default the newest
// current hour. To read an hour that is not cached, or the hourly means for a scale, it acquires one of the account's
// slots. The error is a *schema.Problem if a parameter is invalid, no slot is free or ClickHouse is unavailable.
func (c *Cache) Answer(call *httpapi.Call, t aggregate.Tables, s *snapshot.Snapshot, slots Slots, now time.Time) (resp httpapi.Response, err error) {
	if err := param.Texts(call.Params); err != nil {
		return resp, err
	}
	at, err := parse(call.Params, s, now)
	if err != nil {
		return resp, err
	}
	var on scale.Scale
	if text, ok := call.Params["scale"]; ok {
		if on, err = param.Scale("scale", text); err != nil {
			return resp, err
		}
	}
	all, ok := c.get(s, at)
	if !ok {
		err = withSlot(call, slots, func(ctx context.Context) error {
			all, err = read(ctx, t, s, at)
			return err
		})
		if err != nil {
			return resp, err
		}
		c.add(s, at, all)
	}
	id := func(i int) string { return s.Stations[all[i].station].ID }
	hour := aggregate.Instant(at)
	from, to, next, err := station.PageRange(call.Params, "hours "+hour.Format(time.RFC3339)+call.Params["scale"], len(all), id)
	if err != nil {
		return resp, err
	}
	key := page{at: at, on: on, from: from, to: to}
	if on != 0 {
		if body, ok := c.page(s, key); ok {
			return httpapi.Ready(body, time.Time{}), nil
		}
	}
	reply := air.HourReply{Status: schema.Success, Hour: hour, Data: make([]air.HourEntry, 0, to-from), HasMore: next != nil, NextCursor: next}
	for i := from; i < to; i++ {
		reply.Data = append(reply.Data, entry(id(i), &all[i]))
	}
	if on != 0 {
		reply.Scale = scales.RangeOf(on)
		if err := addScale(call, t, slots, on, at, all[from:to], reply.Data); err != nil {
			return resp, err
		}
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return resp, fmt.Errorf("rendering an hour: %w", err)
	}
	if on != 0 {
		c.addPage(s, key, body)
	}
	return httpapi.Ready(body, time.Time{}), nil
}

// withSlot calls `read` with one of the account's slots. It converts an error of ClickHouse to a *schema.Problem.
func withSlot(call *httpapi.Call, slots Slots, read func(context.Context) error) error {
	release, err := slots.Acquire(call.Context(), call.Account)
	if err != nil {
		return err
	}
	defer release()
	return aggregate.Unavailable(read(call.Context()))
}

// addScale adds the index on a scale to the entries of the stations in an hour.
func addScale(
	call *httpapi.Call, t aggregate.Tables, slots Slots, on scale.Scale, at uint32, of []figures, entries []air.HourEntry,
) error {
	means := make([]scales.Means, len(of))
	if on.Hourly() && len(of) > 0 {
		places := make([]scales.Place, len(of))
		for i := range of {
			places[i] = scales.Place{
				Stations: scales.Stations{IDs: []string{entries[i].Station}, Weights: []float64{1}}, After: int64(at) - scale.Window*3600, To: int64(at),
			}
		}
		err := withSlot(call, slots, func(ctx context.Context) (err error) {
			means, err = scales.Read(ctx, t, places)
			return err
		})
		if err != nil {
			return err
		}
	}
	for i := range of {
		r := scales.Record{Figures: &of[i].Figures, Means: means[i], Short: true}
		uncapped, index := r.On(on)
		if entries[i].Scale = index; entries[i].AQI != nil {
			entries[i].Uncapped = uncapped
		}
	}
	return nil
}

// parse returns the end of the requested hour in Unix seconds. The default is the newest current hour of any city.
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
func read(ctx context.Context, t aggregate.Tables, s *snapshot.Snapshot, at uint32) (all []figures, err error) {
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	var id string
	var row aggregate.Scanned
	err = t.Each(ctx, row.Into(&id), func() {
		f := row.Figures()
		if i, ok := s.ByID[id]; ok { // else it is the station of an account, or newer than the snapshot
			all = append(all, figures{Figures: f, station: i})
		}
	}, t.SQL("SELECT station, "+aggregate.StationFigures+` FROM %s.station_hour FINAL
		PREWHERE at = toDateTime({at:UInt32}, 'UTC') WHERE updated > at - 3600`), aggregate.Number("at", at))
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

// add caches an hour of a snapshot, unless the cache has hours of a newer snapshot.
func (c *Cache) add(s *snapshot.Snapshot, at uint32, all []figures) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.renew(s) {
		c.hours.Add(at, all)
	}
}

// page returns a page of a snapshot, if it is in the cache.
func (c *Cache) page(s *snapshot.Snapshot, key page) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != s {
		return nil, false
	}
	return c.pages.Get(key)
}

// addPage caches a page of a snapshot, unless the cache has pages of a newer snapshot.
func (c *Cache) addPage(s *snapshot.Snapshot, key page, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.renew(s) {
		c.pages.Add(key, body)
	}
}

// renew empties the cache if s is newer than the cached snapshot. If s is older, it returns false. The caller holds mu.
func (c *Cache) renew(s *snapshot.Snapshot) bool {
	if c.of == s {
		return true
	}
	if c.of != nil && s.Built.Before(c.of.Built) {
		return false
	}
	c.of = s
	// lru.New fails only for a size below 1, so the error is ignored.
	c.hours, _ = lru.New[uint32, []figures](min(cachedHours, 1+cachedFigures/max(1, len(s.Stations))))
	c.pages, _ = lru.New[page, []byte](cachedPages)
	return true
}

func entry(id string, f *figures) air.HourEntry {
	e := air.HourEntry{
		Station: id, PM25: f.Concentrations[0], PM10: f.Concentrations[1], NO2: f.Concentrations[2], SO2: f.Concentrations[3], CO: f.Concentrations[4], O3: f.Concentrations[5],
		Updated: aggregate.Instant(f.Updated),
	}
	if f.AQI >= 0 {
		name := naqi.Category(int(f.AQI))
		e.AQI, e.Category = snapshot.OptionalAQI(f.AQI), &name
	}
	return e
}
