package query

import (
	"math"

	"vayu/query/places"
	"vayu/schema"
	"vayu/schema/geo"
)

// cellDegrees is the side of a grid cell. At 0.25° (28 km) interpolation reads 9 to
// 16 cells, and a search within 100 km some 100.
const cellDegrees = 0.25

const (
	cellColumns = int(360 / cellDegrees)
	cellRows    = int(180 / cellDegrees)
)

// grid indexes stations by position. Successive snapshots share its cells, which
// are immutable.
type grid struct {
	rows [][]int32 // by row and column: index in in, plus one; nil for a row without stations
	in   [][]int32 // stations of each cell
	// newest is the latest hour with an AQI, by cell and kind.
	newest [][schema.CityMean + 1]uint32
}

func cellOf(p places.Point) (row, column int) {
	return min(int((p.Latitude+90)/cellDegrees), cellRows-1), int((p.Longitude+180)/cellDegrees) % cellColumns
}

// newGrid returns the grid of the stations that have a position.
func newGrid(stations []station) *grid {
	g := &grid{rows: make([][]int32, cellRows)}
	for i := range stations {
		p := stations[i].point()
		if !p.Known() {
			continue
		}
		row, column := cellOf(p)
		if g.rows[row] == nil {
			g.rows[row] = make([]int32, cellColumns)
		}
		n := g.rows[row][column]
		if n == 0 {
			g.in = append(g.in, nil)
			n = int32(len(g.in))
			g.rows[row][column] = n
		}
		g.in[n-1] = append(g.in[n-1], int32(i))
	}
	g.rate(stations)
	return g
}

// moved returns a grid of the same cells with newer figures of the same stations.
func (g *grid) moved(stations []station) *grid {
	next := &grid{rows: g.rows, in: g.in}
	next.rate(stations)
	return next
}

func (g *grid) rate(stations []station) {
	g.newest = make([][schema.CityMean + 1]uint32, len(g.in))
	for n, in := range g.in {
		for _, i := range in {
			if st := &stations[i]; st.aqi >= 0 && int(st.Kind) < len(g.newest[n]) {
				g.newest[n][st.Kind] = max(g.newest[n][st.Kind], st.at)
			}
		}
	}
}

// around calls f with each cell that has stations and may lie within km kilometres
// of p.
func (g *grid) around(p places.Point, km float64, f func(cell int32)) {
	reach := km/kilometresPerDegree + 1e-9
	from := max(int((p.Latitude-reach+90)/cellDegrees), 0)
	to := min(int((p.Latitude+reach+90)/cellDegrees), cellRows-1)
	// A circle is widest, in degrees of longitude, on the side of the nearer pole.
	wide := 180.0
	if sin, cos := math.Sin(reach*math.Pi/180), math.Cos(p.Latitude*math.Pi/180); sin < cos {
		wide = math.Asin(sin/cos)*180/math.Pi + 1e-9
	}
	west := int(math.Floor((p.Longitude - wide + 180) / cellDegrees))
	east := int(math.Floor((p.Longitude + wide + 180) / cellDegrees))
	east = min(east, west+cellColumns-1)
	for row := from; row <= to; row++ {
		if g.rows[row] == nil {
			continue
		}
		for column := west; column <= east; column++ {
			if n := g.rows[row][(column+2*cellColumns)%cellColumns]; n > 0 {
				f(n - 1)
			}
		}
	}
}

// kilometresPerDegree is a degree of latitude on the mean sphere.
const kilometresPerDegree = geo.EarthRadius * geo.Radian

// newestOf returns the latest hour of a cell's stations of these kinds.
func (g *grid) newestOf(cell int32, kinds kindSet) uint32 {
	var at uint32
	for _, k := range schema.StationKinds {
		if kinds.has(k) {
			at = max(at, g.newest[cell][k])
		}
	}
	return at
}
