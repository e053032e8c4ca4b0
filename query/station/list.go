package station

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/param"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/geo"
)

// These are the default and the maximum of the parameter "radius_km", in km.
const (
	defaultRadius = 25.0
	maxRadius     = 500.0
)

// Cities answers GET /v1/cities with a page of the snapshot's cities that match every parameter. With the parameter
// "near", only cities near that position match, and they are sorted by distance. Otherwise they are sorted by name. The
// age of their figures is that at the time `now`.
func Cities(c *httpapi.Call, s *snapshot.Snapshot, now time.Time) (httpapi.Response, error) {
	at, radius, err := parseCircle(c.Params)
	if err != nil {
		return httpapi.Response{}, err
	}
	f, err := parseFilter(c.Params)
	if err != nil {
		return httpapi.Response{}, err
	}
	km := func(i int) float64 { return places.Distance(at, s.Cities[i].Position) }
	found := slices.DeleteFunc(s.Index.Prefix(c.Params["q"]), func(i int) bool {
		return !f.city(s, i) || radius > 0 && !(s.Cities[i].Position.Known() && km(i) <= radius)
	})
	key := func(i int) string { return s.Index.Label(found[i]) + "\x00" + s.Cities[found[i]].State }
	name := "cities"
	if radius > 0 {
		slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(int64(km(a)*1000), int64(km(b)*1000)) })
		name = "cities near " + c.Params["near"]
		byName := key
		key = func(i int) string { return strconv.FormatInt(1e9+int64(km(found[i])*1000), 10) + byName(i) }
	}
	from, to, next, err := PageRange(c.Params, f.list(name, c.Params), len(found), key)
	if err != nil {
		return httpapi.Response{}, err
	}
	list := schema.List[air.CityEntry]{Status: schema.Success, Data: []air.CityEntry{}, HasMore: next != nil, NextCursor: next}
	for _, i := range found[from:to] {
		e := CityEntry(s, i, now)
		if radius > 0 {
			e.DistanceKM = snapshot.Kilometres(km(i))
		}
		list.Data = append(list.Data, e)
	}
	return page(c, list, func(e *air.CityEntry) (string, *float64, *float64) { return e.Name, e.Latitude, e.Longitude })
}

// Stations answers GET /v1/stations with a page of the snapshot's stations that match every parameter. With the
// parameter "near", only stations near that position match, and they are sorted by distance. Otherwise they are sorted
// by id. The age of their figures is that at the time `now`.
func Stations(c *httpapi.Call, s *snapshot.Snapshot, now time.Time) (httpapi.Response, error) {
	found, err := wanted(s, c.Params)
	if err != nil {
		return httpapi.Response{}, err
	}
	f, err := parseFilter(c.Params)
	if err != nil {
		return httpapi.Response{}, err
	}
	found = slices.DeleteFunc(found, func(sm aggregate.Sample) bool { return !f.station(&s.Stations[sm.Station].Station) })
	where, near := c.Params["near"]
	key := func(i int) string { return s.Stations[found[i].Station].ID }
	name := "stations"
	if near {
		sortByDistance(found, s)
		name = "stations near " + where // a list of its own, because its keys begin with distances
		key = func(i int) string {
			return strconv.FormatInt(1e9+metres(found[i]), 10) + s.Stations[found[i].Station].ID
		}
	}
	from, to, next, err := PageRange(c.Params, f.list(name, c.Params), len(found), key)
	if err != nil {
		return httpapi.Response{}, err
	}
	list := schema.List[air.StationEntry]{Status: schema.Success, Data: []air.StationEntry{}, HasMore: next != nil, NextCursor: next}
	for _, sm := range found[from:to] {
		e := Entry(&s.Stations[sm.Station].Station, &s.Stations[sm.Station].Figures, now)
		if near {
			e.DistanceKM = snapshot.Kilometres(sm.KM)
		}
		list.Data = append(list.Data, e)
	}
	return StationPage(c, list)
}

// wanted returns the stations that the parameters "near" and "radius_km" select, nearest first. Without "near", it
// returns all stations, sorted by id.
func wanted(s *snapshot.Snapshot, params map[string]string) ([]aggregate.Sample, error) {
	at, radius, err := parseCircle(params)
	if err != nil {
		return nil, err
	}
	if radius > 0 {
		return s.Around(at, radius, aggregate.KindsOf(air.StationKinds[:]...)), nil
	}
	all := make([]aggregate.Sample, len(s.Stations)) // sorted by id already
	for i := range all {
		all[i].Station = int32(i)
	}
	return all, nil
}

// parseCircle parses "near" and "radius_km". The radius is 0 without "near". The error is a
// *schema.Problem.
func parseCircle(params map[string]string) (at places.Point, radius float64, err error) {
	near, ok := params["near"]
	text, given := params["radius_km"]
	if !ok {
		if km, err := param.Degrees("radius_km", text, maxRadius); given && (err != nil || km != defaultRadius) {
			return at, 0, param.Invalid("radius_km", "The parameter radius_km requires near.")
		}
		return at, 0, nil
	}
	radius = defaultRadius
	if given {
		if radius, err = param.Degrees("radius_km", text, maxRadius); err != nil || radius <= 0 {
			return at, 0, param.Invalid("radius_km", "The parameter radius_km must be more than 0 and at most 500.")
		}
	}
	at, err = parseNear(near)
	return at, radius, err
}

// parseNear parses a position in the form "latitude,longitude", in degrees.
func parseNear(text string) (p places.Point, err error) {
	lat, lon, found := strings.Cut(text, ",")
	if !found {
		return p, param.Invalid("near", "The parameter near must be latitude,longitude in degrees, for example 28.6,77.2.")
	}
	p.Latitude, err = param.Degrees("near", strings.TrimSpace(lat), 90)
	if err == nil {
		p.Longitude, err = param.Degrees("near", strings.TrimSpace(lon), 180)
	}
	if err != nil {
		return p, param.Invalid("near", "The parameter near must be latitude,longitude in degrees: -90 to 90, and -180 to 180.")
	}
	if geo.InIndia(p.Longitude, p.Latitude) {
		return p, param.Invalid("near", "The parameter near begins with a longitude. Its order is latitude,longitude.")
	}
	return p, nil
}

// sortByDistance sorts stations by their distance in metres, and then by id.
func sortByDistance(found []aggregate.Sample, s *snapshot.Snapshot) {
	slices.SortFunc(found, func(a, b aggregate.Sample) int {
		if d := metres(a) - metres(b); d != 0 {
			return int(d)
		}
		return strings.Compare(s.Stations[a.Station].ID, s.Stations[b.Station].ID)
	})
}

// metres returns the distance of a station in whole metres.
func metres(sm aggregate.Sample) int64 { return int64(sm.KM * 1000) }
