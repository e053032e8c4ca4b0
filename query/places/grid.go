package places

import (
	"math"

	"vayu/schema/geo"
)

// cellDegrees is the side of a grid cell in degrees. With 0.25° (28 km), an interpolation reads 9 to 16 cells, and a
// search within 100 km reads about 100.
const cellDegrees = 0.25

const (
	cellColumns = int(360 / cellDegrees)
	cellRows    = int(180 / cellDegrees)
)

// Grid indexes points by position. It is immutable.
type Grid struct {
	rows [][]int32 // by row and column: index into `in` plus one, 0 for an empty cell; nil for an empty row
	in   [][]int32 // points of each cell
}

func cellOf(p Point) (row, column int) {
	return min(int((p.Latitude+90)/cellDegrees), cellRows-1), int((p.Longitude+180)/cellDegrees) % cellColumns
}

// NewGrid returns the grid of n points. It leaves out points without a known
// position.
func NewGrid(n int, point func(i int) Point) *Grid {
	g := &Grid{rows: make([][]int32, cellRows)}
	for i := range n {
		p := point(i)
		if !p.Known() {
			continue
		}
		row, column := cellOf(p)
		if g.rows[row] == nil {
			g.rows[row] = make([]int32, cellColumns)
		}
		cell := g.rows[row][column]
		if cell == 0 {
			g.in = append(g.in, nil)
			cell = int32(len(g.in))
			g.rows[row][column] = cell
		}
		g.in[cell-1] = append(g.in[cell-1], int32(i))
	}
	return g
}

// Cells returns the points of each cell that has points, as indices. The caller must not change them.
func (g *Grid) Cells() [][]int32 { return g.in }

// Around calls f with each cell that may have a point within `km` kilometres of p. It skips cells without points.
func (g *Grid) Around(p Point, km float64, f func(cell int32)) {
	reach := km/kilometresPerDegree + 1e-9
	from := max(int((p.Latitude-reach+90)/cellDegrees), 0)
	to := min(int((p.Latitude+reach+90)/cellDegrees), cellRows-1)
	// The circle around p is widest, in degrees of longitude, on the side of the nearer pole.
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

// kilometresPerDegree is the length of a degree of latitude on the mean sphere.
const kilometresPerDegree = geo.EarthRadius * geo.Radian
