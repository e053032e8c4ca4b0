package public

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/param"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/air"
)

// listCities answers with all cities, sorted by name.
func (e *edge) listCities(r *request) (resp httpapi.Response, at uint32, err error) {
	resp, err = e.answers.Get(r.snap, r.now, "cities", func() (httpapi.Response, error) {
		list := schema.List[air.CityEntry]{Status: schema.Success, Data: []air.CityEntry{}}
		for _, i := range r.snap.Index.Prefix("") {
			list.Data = append(list.Data, station.CityEntry(r.snap, i, r.now))
		}
		return rendered(list)
	})
	return resp, r.snap.Newest(), err
}

// stations answers with all stations as GeoJSON. A snapshot has no private stations of accounts.
func (e *edge) stations(r *request) (resp httpapi.Response, at uint32, err error) {
	resp, err = e.answers.Get(r.snap, r.now, "stations", func() (httpapi.Response, error) {
		all := air.FeatureCollection{Type: "FeatureCollection", Features: make([]air.Feature, len(r.snap.Stations))}
		for i := range r.snap.Stations {
			st := &r.snap.Stations[i]
			entry := station.Entry(&st.Station, &st.Figures, r.now)
			all.Features[i] = air.Feature{Type: "Feature", ID: st.ID, Properties: &entry}
			if entry.Latitude != nil && entry.Longitude != nil {
				all.Features[i].Geometry = &air.Point{Type: "Point", Coordinates: [2]float64{*entry.Longitude, *entry.Latitude}}
			}
		}
		resp, err := rendered(all)
		resp.Type = []string{station.GeoJSON}
		return resp, err
	})
	return resp, r.snap.Newest(), err
}

func rendered(value any) (httpapi.Response, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("rendering a list: %w", err)
	}
	return httpapi.Ready(body, time.Time{}), nil
}

// decimals is the largest number of decimals of a degree in a request. 0.01° is about 1 km, so people near each other
// share the reply in a cache. The cache cannot find out where exactly they are.
const decimals = 2

// position answers with the current record of a position or pin code.
func (e *edge) position(r *request) (resp httpapi.Response, at uint32, err error) {
	q, err := e.parsePosition(r)
	if err != nil {
		return resp, 0, err
	}
	if q.Pin != 0 {
		if resp, ok := r.snap.CachedPin(q.Pin, true, r.now); ok {
			return resp, r.snap.Newest(), nil
		}
		if q.Point, err = e.Locate(r.Context(), q.Pin); err != nil {
			return resp, 0, err
		}
	}
	read := func() (httpapi.Response, error) {
		resp, ok, err := r.snap.At(q, r.now)
		if err == nil && !ok {
			err = schema.NewProblem(schema.NoStationNearby, "", fmt.Sprintf("No station within %d km has current data.", int(snapshot.NearestReach)))
		}
		return resp, err
	}
	if q.Pin != 0 { // the snapshot caches replies by pin code
		resp, err = read()
	} else {
		resp, err = e.positions.Get(r.snap, r.now, fmt.Sprintf("%.2f %.2f", q.Point.Latitude, q.Point.Longitude), read)
	}
	return resp, r.snap.Newest(), err
}

func (e *edge) parsePosition(r *request) (q snapshot.Position, err error) {
	if err := param.Texts(r.Params); err != nil {
		return q, err
	}
	q.Detail = true
	pin, byPin := r.Params["pincode"]
	lat, hasLat := r.Params["lat"]
	lon, hasLon := r.Params["lon"]
	switch {
	case byPin && (hasLat || hasLon):
		return q, param.Conflict("pincode", "Send either pincode, or lat and lon.")
	case byPin:
		var ok bool
		if q.Pin, ok = places.ParsePin(pin); !ok {
			err = param.Invalid("pincode", "The pincode must have six digits 0–9, and must not begin with 0.")
		}
		return q, err
	case !hasLat:
		return q, param.Invalid("lat", "Send lat and lon, or pincode.")
	case !hasLon:
		return q, param.Invalid("lon", "A position requires lat and lon.")
	}
	if q.Point.Latitude, err = degrees("lat", lat, 90); err != nil {
		return q, err
	}
	if q.Point.Longitude, err = degrees("lon", lon, 180); err != nil {
		return q, err
	}
	return q, param.Position(q.Point)
}

// degrees parses a number of degrees that has at most as many decimals as the constant decimals.
func degrees(name, text string, limit float64) (float64, error) {
	if _, fraction, _ := strings.Cut(text, "."); len(fraction) > decimals {
		return 0, param.Invalid(name, fmt.Sprintf("The parameter %s must have at most %d decimals, about 1 km.", name, decimals))
	}
	return param.Degrees(name, text, limit)
}
