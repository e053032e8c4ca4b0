// Package geo has positions on the Earth and the distance between them. No other package may compute distances.
package geo

import "math"

// Point is a position in degrees (WGS 84).
type Point struct{ Latitude, Longitude float64 }

// Known reports whether the position is known. Sources state 0,0 for a missing position. That point is in the Atlantic.
func (p Point) Known() bool { return p.Latitude != 0 || p.Longitude != 0 }

// EarthRadius is the mean radius of the Earth in km (IUGG).
const EarthRadius = 6371.0088

// Radian is one degree in radians, the factor that converts degrees to radians.
const Radian = math.Pi / 180

// Distance returns the great-circle distance between two positions in km. It uses the haversine formula.
func Distance(a, b Point) float64 {
	sinLat := math.Sin((b.Latitude - a.Latitude) * Radian / 2)
	sinLon := math.Sin((b.Longitude - a.Longitude) * Radian / 2)
	h := sinLat*sinLat + math.Cos(a.Latitude*Radian)*math.Cos(b.Latitude*Radian)*sinLon*sinLon
	return 2 * EarthRadius * math.Asin(math.Min(1, math.Sqrt(h)))
}

// InIndia reports whether a position is in the box around India's territory and islands: 6–38° N and 68–98° E. A
// station's position outside this box is an error of its source.
func InIndia(lat, lon float64) bool { return lat >= 6 && lat <= 38 && lon >= 68 && lon <= 98 }
