package gazetteer

import (
	_ "embed" // extents.csv
	"fmt"
	"math"
	"strings"
	"sync"

	"vayu/schema/geo"
)

// extentsCSV contains the extents of cities. The first lines state the origin and the licence of the data.
//
//go:embed extents.csv
var extentsCSV string

// extent is the area of a city, approximated by a circle.
type extent struct {
	city, state string
	centre      geo.Point
	radius      float64 // km
}

// atlas finds the extents of cities by position and by the city's name.
type atlas struct {
	all    []extent
	byName map[[2]string]int // city and state -> index in `all`
	cells  map[cell][]int    // cell -> indexes in `all` of the extents that overlap the cell
}

// cell is a square of the map with sides of half a degree (cellDegrees). The sides are longer than the radius of any
// extent, so an extent overlaps few cells.
type cell struct{ lat, lon int }

const cellDegrees = 0.5

func cellOf(lat, lon float64) cell {
	return cell{int(math.Floor(lat / cellDegrees)), int(math.Floor(lon / cellDegrees))}
}

// atlasOf parses extents.csv. It skips comments, and panics on an invalid line.
var atlasOf = sync.OnceValue(func() *atlas {
	a := &atlas{byName: make(map[[2]string]int), cells: make(map[cell][]int)}
	for line := range strings.Lines(extentsCSV) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), ",")
		if len(fields) != 5 {
			panic(fmt.Sprintf("reading the extents: %q does not have 5 fields", line))
		}
		e := extent{city: fields[0], state: fields[1]}
		if _, err := fmt.Sscan(strings.Join(fields[2:], " "), &e.centre.Latitude, &e.centre.Longitude, &e.radius); err != nil {
			panic(fmt.Sprintf("reading the extent of %q: %v", e.city, err))
		}
		i := len(a.all)
		a.all = append(a.all, e)
		a.byName[[2]string{e.city, e.state}] = i
		dLat := e.radius / (geo.EarthRadius * geo.Radian)
		dLon := dLat / math.Cos(e.centre.Latitude*geo.Radian)
		low, high := cellOf(e.centre.Latitude-dLat, e.centre.Longitude-dLon), cellOf(e.centre.Latitude+dLat, e.centre.Longitude+dLon)
		for lat := low.lat; lat <= high.lat; lat++ {
			for lon := low.lon; lon <= high.lon; lon++ {
				a.cells[cell{lat, lon}] = append(a.cells[cell{lat, lon}], i)
			}
		}
	}
	return a
})

// at returns the extent that contains a position. It considers only cities that are at least partly in the given
// state. If several extents contain the position, it returns the extent with the smallest ratio of two distances: from
// the position to the centre, and the radius. It returns false if no extent contains the position.
func (a *atlas) at(p geo.Point, state string) (extent, bool) {
	best, nearest := extent{}, math.Inf(1)
	for _, i := range a.cells[cellOf(p.Latitude, p.Longitude)] {
		e := a.all[i]
		if e.state != state && !alsoIn(e.city, e.state, state) {
			continue
		}
		if share := geo.Distance(p, e.centre) / e.radius; share <= 1 && share < nearest {
			best, nearest = e, share
		}
	}
	return best, best.city != ""
}
