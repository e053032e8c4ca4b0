package places

import (
	"math"

	"vayu/schema/geo"
)

// Point is a position in degrees (WGS 84).
type Point = geo.Point

// Distance returns the great-circle distance in km.
func Distance(a, b Point) float64 { return geo.Distance(a, b) }

// Beyond reports whether b is more than `km` kilometres north or south of a. This cheap test can
// avoid a call of [Distance].
func Beyond(a, b Point, km float64) bool {
	return math.Abs(a.Latitude-b.Latitude)*geo.Radian*geo.EarthRadius > km
}

// Weight returns the weight of a station in an interpolation, at a distance of `km`: the inverse
// square of the distance. Distances below 500 m count as 500 m, so that one close station does not
// outweigh all others.
func Weight(km float64) float64 {
	km = math.Max(km, 0.5)
	return 1 / (km * km)
}

// Degrees returns a position in degrees, rounded to about a metre. Both results are nil if the position is unknown.
func Degrees(p Point) (lat, lon *float64) {
	if !p.Known() {
		return nil, nil
	}
	const metre = 1e5
	a, b := math.Round(p.Latitude*metre)/metre, math.Round(p.Longitude*metre)/metre
	return &a, &b
}
