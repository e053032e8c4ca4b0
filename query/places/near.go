package places

import "math"

// Point is a position in WGS 84 degrees.
type Point struct{ Latitude, Longitude float64 }

// Known reports whether the position is known: 0,0 lies in the Atlantic and is
// what sources write for nothing.
func (p Point) Known() bool { return p.Latitude != 0 || p.Longitude != 0 }

// earthRadius is the mean radius of the earth in km (IUGG).
const earthRadius = 6371.0088

const radian = math.Pi / 180

// Distance returns the great-circle distance in km.
func Distance(a, b Point) float64 {
	sinLat := math.Sin((b.Latitude - a.Latitude) * radian / 2)
	sinLon := math.Sin((b.Longitude - a.Longitude) * radian / 2)
	h := sinLat*sinLat + math.Cos(a.Latitude*radian)*math.Cos(b.Latitude*radian)*sinLon*sinLon
	return 2 * earthRadius * math.Asin(math.Min(1, math.Sqrt(h)))
}

// Beyond reports whether b lies more than km kilometres north or south of a:
// a cheap answer for most pairs before [Distance] is asked.
func Beyond(a, b Point, km float64) bool {
	return math.Abs(a.Latitude-b.Latitude)*radian*earthRadius > km
}

// Weight returns the inverse-distance weight of a station km away (power 2). A
// station nearer than 500 m counts as 500 m away, so that one next door does
// not silence all others.
func Weight(km float64) float64 {
	km = math.Max(km, 0.5)
	return 1 / (km * km)
}
