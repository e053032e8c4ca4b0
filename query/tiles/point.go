package tiles

import (
	"fmt"
	"math"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/geojson"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema/naqi"
)

// maxPoints is the maximum number of points of a tile. A tile of more places has clusters instead.
const maxPoints = 1_000

// clusterCells is the number of cells of a tile in each direction. The points of a cell are one cluster.
const clusterCells = 16

// place is a station, city or pin code in a tile. Its properties are computed only if the tile has no clusters.
type place struct {
	at         places.Point
	aqi        int16 // -1 for none
	stale      bool
	properties func() map[string]any
}

// vector renders a vector tile with the places of a layer.
func (r *Request) vector(s *snapshot.Snapshot, codes *places.Pins, now time.Time) ([]byte, error) {
	var found []place
	var err error
	switch r.layer {
	case stations:
		found = r.stations(s, now)
	case cities:
		found = r.cities(s, now)
	case pins:
		found, err = r.pins(s, codes, now)
	}
	if err != nil {
		return nil, err
	}
	all := geojson.NewFeatureCollection()
	if len(found) > maxPoints {
		all.Features = r.cluster(found)
	} else {
		for _, p := range found {
			f := geojson.NewFeature(orb.Point{p.at.Longitude, p.at.Latitude})
			f.Properties = p.properties()
			all.Append(f)
		}
	}
	layer := mvt.NewLayer(r.layer, all)
	layer.Version = 2
	layer.ProjectToTile(r.tile)
	body, err := mvt.Marshal(mvt.Layers{layer})
	if err != nil {
		return nil, fmt.Errorf("rendering a vector tile: %w", err)
	}
	return body, nil
}

// has reports whether a position is known and inside the tile.
func (r *Request) has(p places.Point) bool {
	return p.Known() && r.tile.Bound().Contains(orb.Point{p.Longitude, p.Latitude})
}

func (r *Request) stations(s *snapshot.Snapshot, now time.Time) (found []place) {
	for i := range s.Stations {
		st := &s.Stations[i]
		if r.has(st.Point()) {
			found = append(found, place{st.Point(), st.AQI, st.Stale(now), func() map[string]any {
				return describe(&st.Figures, now, map[string]any{"id": st.ID, "name": st.Name, "city": st.City, "kind": st.Kind.String()})
			}})
		}
	}
	return found
}

func (r *Request) cities(s *snapshot.Snapshot, now time.Time) (found []place) {
	for i := range s.Cities {
		c := &s.Cities[i]
		if r.has(c.Position) {
			found = append(found, place{c.Position, c.AQI, c.Stale(now), func() map[string]any {
				return describe(&c.Figures, now, map[string]any{"name": s.Index.Label(i), "state": c.State, "stations": len(c.Stations)})
			}})
		}
	}
	return found
}

// describe adds the figures of a place to the properties of its point. A missing figure has no property, because vector
// tiles have no null.
func describe(f *aggregate.Figures, now time.Time, properties map[string]any) map[string]any {
	properties["stale"] = f.Stale(now)
	if f.AQI >= 0 {
		properties["aqi"], properties["category"] = int(f.AQI), naqi.Category(int(f.AQI))
		if f.Dominant.Valid() {
			properties["dominant_pollutant"] = f.Dominant.Label()
		}
	}
	if pm := f.Concentrations[0]; pm.Known() {
		properties["pm25"] = float64(pm) / 100
	}
	return properties
}

// pins returns the pin codes of a tile, each with its interpolated AQI. It returns none for a zoom below pinZoom. The
// error is places.ErrNoPins if the pin codes are not loaded.
func (r *Request) pins(s *snapshot.Snapshot, codes *places.Pins, now time.Time) (found []place, err error) {
	if r.tile.Z < pinZoom {
		return nil, nil
	}
	err = codes.Each(func(pin places.Pin) {
		if !r.has(pin.Position) {
			return
		}
		index := int16(-1)
		properties := map[string]any{"pincode": fmt.Sprint(pin.Code)}
		if at, ok := interpolate(s, pin.Position, nil, now); ok {
			index = int16(at.aqi)
			properties["aqi"], properties["category"] = at.aqi, naqi.Category(at.aqi)
			properties["nearest_km"] = math.Round(at.km*10) / 10
		}
		found = append(found, place{pin.Position, index, false, func() map[string]any { return properties }})
	})
	return found, err
}

// cluster returns a point for each cell that has places. The point is at their mean position. It has the number of
// places, and the largest AQI of those that are not stale.
func (r *Request) cluster(found []place) (clusters []*geojson.Feature) {
	type cell struct {
		lon, lat float64
		count    int
		aqi      int16
	}
	area := r.tile.Bound()
	var cells [clusterCells][clusterCells]cell
	for _, p := range found {
		x := int((p.at.Longitude - area.Left()) / (area.Right() - area.Left()) * clusterCells)
		y := int((p.at.Latitude - area.Bottom()) / (area.Top() - area.Bottom()) * clusterCells)
		c := &cells[min(y, clusterCells-1)][min(x, clusterCells-1)]
		c.lon, c.lat, c.count = c.lon+p.at.Longitude, c.lat+p.at.Latitude, c.count+1
		if !p.stale {
			c.aqi = max(c.aqi, p.aqi+1) // 0 for none
		}
	}
	for y := range cells {
		for x := range cells[y] {
			c := &cells[y][x]
			if c.count == 0 {
				continue
			}
			f := geojson.NewFeature(orb.Point{c.lon / float64(c.count), c.lat / float64(c.count)})
			f.Properties["count"] = c.count
			if index := int(c.aqi) - 1; index >= 0 {
				f.Properties["aqi"], f.Properties["category"] = index, naqi.Category(index)
			}
			clusters = append(clusters, f)
		}
	}
	return clusters
}
