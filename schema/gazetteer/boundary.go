package gazetteer

import (
	_ "embed" // states.txt
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"vayu/schema/geo"
)

// statesText holds the outlines of the states. Its head names origin and licence.
//
//go:embed states.txt
var statesText string

// outline is the territory of one state: its rings, of which a position inside
// is in an odd number.
type outline struct {
	name  string
	bound orb.Bound
	rings []bounded
}

type bounded struct {
	bound orb.Bound
	ring  orb.Ring
}

// borderDegrees is how far outside every outline a position may lie and still
// belong to the nearest state: the outlines are simplified, and stations stand on
// piers and beaches. 0.05° are at most 5.6 km.
const borderDegrees = 0.05

// outlines reads states.txt, which is generated: a line that cannot be read is a
// fault of the build.
var outlines = sync.OnceValue(func() []*outline {
	var all []*outline
	for line := range strings.Lines(statesText) {
		name, vertices, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &outline{name: name, bound: orb.Bound{Min: orb.Point{math.Inf(1), math.Inf(1)}, Max: orb.Point{math.Inf(-1), math.Inf(-1)}}})
		}
		r := bounded{}
		lon, lat := 0, 0
		for vertex := range strings.SplitSeq(vertices, " ") {
			var dx, dy int
			if _, err := fmt.Sscanf(vertex, "%d,%d", &dx, &dy); err != nil {
				panic(fmt.Sprintf("reading the outline of %q: %v", name, err))
			}
			lon, lat = lon+dx, lat+dy
			r.ring = append(r.ring, orb.Point{float64(lon) / 1000, float64(lat) / 1000})
		}
		r.ring = append(r.ring, r.ring[0])
		r.bound = r.ring.Bound()
		state := all[len(all)-1]
		state.rings = append(state.rings, r)
		state.bound = state.bound.Union(r.bound)
	}
	return all
})

// State returns the state or union territory that a position lies in, by the name
// that [schema.CleanState] gives it. A position that is in none belongs to the
// nearest within [borderDegrees]; beyond, ok is false.
func State(p geo.Point) (name string, ok bool) {
	at := orb.Point{p.Longitude, p.Latitude}
	nearest := borderDegrees
	for _, o := range outlines() {
		if !o.bound.Pad(borderDegrees).Contains(at) {
			continue
		}
		if o.contains(at) {
			return o.name, true
		}
		for _, r := range o.rings {
			if !r.bound.Pad(borderDegrees).Contains(at) {
				continue
			}
			if d := planar.DistanceFrom(orb.LineString(r.ring), at); d < nearest {
				nearest, name = d, o.name
			}
		}
	}
	return name, name != ""
}

func (o *outline) contains(at orb.Point) bool {
	inside := false
	for _, r := range o.rings {
		if r.bound.Contains(at) && planar.RingContains(r.ring, at) {
			inside = !inside
		}
	}
	return inside
}
