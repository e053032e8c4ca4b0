package gazetteer

import (
	_ "embed" // states.txt
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"vayu/schema/geo"
)

// statesText contains the outlines of the states. The first lines state the origin and the licence of the data.
//
//go:embed states.txt
var statesText string

// outline is the territory of one state, as a set of rings. A position is inside if it lies in an odd number of rings.
type outline struct {
	name  string
	bound orb.Bound
	rings []bounded
}

type bounded struct {
	bound orb.Bound
	ring  orb.Ring
}

// borderDegrees is the largest distance, in degrees, at which a position outside all outlines still belongs to the
// nearest state. Such positions occur because the outlines are simplified, and because some stations are on piers and
// beaches. 0.05° is at most 5.6 km.
const borderDegrees = 0.05

// outlines parses states.txt. It panics on an invalid line, because the file is part of the program.
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

// States returns the names of the states and union territories, sorted.
func States() []string {
	var names []string
	for _, o := range outlines() {
		names = append(names, o.name)
	}
	slices.Sort(names)
	return names
}

// borders divides the map into squares with sides of a tenth of a degree. `squares` has the squares within
// borderDegrees of an outline. Every other square is entirely in one state or in none. `inner` caches that state.
type borders struct {
	squares map[square]bool
	inner   sync.Map // square -> name of its state, "" for none
}

type square struct{ lat, lon int }

func squareOf(at orb.Point) square {
	return square{int(math.Floor(at.Lat() * 10)), int(math.Floor(at.Lon() * 10))}
}

// bordersOf computes the borders. For each edge of an outline, it marks the squares within [borderDegrees] of the
// edge's bounding box.
var bordersOf = sync.OnceValue(func() *borders {
	b := &borders{squares: make(map[square]bool)}
	for _, o := range outlines() {
		for _, r := range o.rings {
			for i := 1; i < len(r.ring); i++ {
				box := orb.Bound{Min: r.ring[i], Max: r.ring[i]}.Extend(r.ring[i-1]).Pad(borderDegrees)
				low, high := squareOf(box.Min), squareOf(box.Max)
				for lat := low.lat; lat <= high.lat; lat++ {
					for lon := low.lon; lon <= high.lon; lon++ {
						b.squares[square{lat, lon}] = true
					}
				}
			}
		}
	}
	return b
})

// State returns the state or union territory that contains a position, in the spelling of [air.CleanState]. For a
// position outside all states, it returns the nearest state within [borderDegrees]. If there is none, `ok` is false.
func State(p geo.Point) (name string, ok bool) {
	at := orb.Point{p.Longitude, p.Latitude}
	b, s := bordersOf(), squareOf(at)
	if b.squares[s] {
		return search(at)
	}
	if known, cached := b.inner.Load(s); cached {
		name, _ = known.(string)
		return name, name != ""
	}
	name, ok = search(at)
	b.inner.Store(s, name)
	return name, ok
}

// search returns the same as [State], without the use of the cache.
func search(at orb.Point) (name string, ok bool) {
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
