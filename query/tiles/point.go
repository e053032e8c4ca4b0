package tiles

import (
	"fmt"
	"math"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/geojson"

	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/naqi"
)

// maxPoints is the largest number of points of a tile. A tile with more has clusters.
const maxPoints = 1_000

// clusterCells is the number of cells of a tile in each direction. The points of a cell are one cluster.
const clusterCells = 16

// vector renders a vector tile with the points of a layer.
func (r *Request) vector(s *snapshot.Snapshot, codes *places.Pins, now time.Time) ([]byte, error) {
	var points []*geojson.Feature
	var err error
	switch r.layer {
	case stations:
		points = r.stationPoints(s, now)
	case cities:
		points = r.cityPoints(s, now)
	case pins:
		points, err = r.pinPoints(s, codes)
	}
	if err != nil {
		return nil, err
	}
	if len(points) > maxPoints {
		points = r.cluster(points)
	}
	all := geojson.NewFeatureCollection()
	all.Features = points
	layer := mvt.NewLayer(r.layer, all)
	layer.Version = 2
	layer.ProjectToTile(r.tile)
	body, err := mvt.Marshal(mvt.Layers{layer})
	if err != nil {
		return nil, fmt.Errorf("rendering a vector tile: %w", err)
	}
	return body, nil
}

func (r *Request) stationPoints(s *snapshot.Snapshot, now time.Time) (points []*geojson.Feature) {
	area := r.bound()
	for i := range s.Stations {
		st := &s.Stations[i]
		if p := st.Point(); p.Known() && area.Contains(orb.Point{p.Longitude, p.Latitude}) {
			e := station.Entry(&st.Station, &st.Figures, now)
			f := point(p, map[string]any{"id": e.ID, "name": e.Name, "city": e.City, "kind": e.Kind, "stale": e.Stale})
			describe(f, e.AQI, e.Category, e.Dominant, e.PM25)
			points = append(points, f)
		}
	}
	return points
}

func (r *Request) cityPoints(s *snapshot.Snapshot, now time.Time) (points []*geojson.Feature) {
	area := r.bound()
	for i := range s.Cities {
		c := &s.Cities[i]
		if p := c.Position; p.Known() && area.Contains(orb.Point{p.Longitude, p.Latitude}) {
			e := station.CityEntry(s, i, now)
			f := point(p, map[string]any{"name": e.Name, "state": e.State, "stations": e.Stations, "stale": e.Stale})
			var dominant *string
			if c.AQI >= 0 && c.Dominant.Valid() {
				label := c.Dominant.Label()
				dominant = &label
			}
			describe(f, e.AQI, e.Category, dominant, c.Amount[0])
			points = append(points, f)
		}
	}
	return points
}

// pinPoints returns the pin codes of a tile, with the interpolated AQI of GET /v1/aqi?pincode=. Their error is that of
// [places.Pins].
func (r *Request) pinPoints(s *snapshot.Snapshot, codes *places.Pins) (points []*geojson.Feature, err error) {
	if r.tile.Z < pinZoom {
		return nil, nil
	}
	area := r.bound()
	err = codes.Each(func(pin places.Pin) {
		p := pin.Position
		if !p.Known() || !area.Contains(orb.Point{p.Longitude, p.Latitude}) {
			return
		}
		f := point(p, map[string]any{"pincode": fmt.Sprint(pin.Code)})
		if at, ok := interpolate(s, p, nil); ok {
			index, category := at.aqi, naqi.Category(at.aqi)
			describe(f, &index, &category, nil, schema.Unknown)
			f.Properties["nearest_km"] = math.Round(at.km*10) / 10
		}
		points = append(points, f)
	})
	return points, err
}

func point(p places.Point, properties map[string]any) *geojson.Feature {
	f := geojson.NewFeature(orb.Point{p.Longitude, p.Latitude})
	f.Properties = properties
	return f
}

// describe adds the figures of a place. A missing figure has no property, because vector tiles have no null.
func describe(f *geojson.Feature, index *int, category, dominant *string, pm schema.Figure) {
	if index != nil {
		f.Properties["aqi"], f.Properties["category"] = *index, *category
	}
	if dominant != nil {
		f.Properties["dominant_pollutant"] = *dominant
	}
	if pm.Known() {
		f.Properties["pm25"] = float64(pm) / 100
	}
}

// cluster replaces the points of each cell by one point at their mean position. It has their number, and the largest
// AQI of those that are not stale.
func (r *Request) cluster(points []*geojson.Feature) (clusters []*geojson.Feature) {
	area := r.bound()
	cells := map[[2]int]*geojson.Feature{}
	for _, f := range points {
		at := f.Point()
		cell := [2]int{
			int((at.Lon() - area.Left()) / (area.Right() - area.Left()) * clusterCells),
			int((at.Lat() - area.Bottom()) / (area.Top() - area.Bottom()) * clusterCells),
		}
		c := cells[cell]
		if c == nil {
			c = geojson.NewFeature(orb.Point{})
			c.Properties = map[string]any{"count": 0}
			cells[cell] = c
			clusters = append(clusters, c)
		}
		n := c.Properties["count"].(int)
		sum := c.Geometry.(orb.Point)
		c.Geometry = orb.Point{sum[0] + (at[0]-sum[0])/float64(n+1), sum[1] + (at[1]-sum[1])/float64(n+1)}
		c.Properties["count"] = n + 1
		index, known := f.Properties["aqi"].(int)
		stale, _ := f.Properties["stale"].(bool)
		if most, _ := c.Properties["aqi"].(int); known && !stale && index >= most {
			c.Properties["aqi"], c.Properties["category"] = index, f.Properties["category"]
		}
	}
	return clusters
}

// stalePeriod is the time for which a tile counts as new, because the staleness of its places depends on the time.
const stalePeriod = 5 * time.Minute
