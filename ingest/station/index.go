package station

import (
	"math"
	"slices"

	"vayu/schema/air"
	"vayu/schema/geo"
)

// stationIndex finds all stations by position, and reference stations also by name.
type stationIndex struct {
	cells  map[indexCell][]string
	places map[string][]string // ids of stations, by city, state and place of the title
}

// indexCell is a square whose sides have a hundredth of a degree, about 1 km.
type indexCell struct{ lat, lon int }

func cellOf(p geo.Point) indexCell {
	return indexCell{int(math.Floor(p.Latitude * 100)), int(math.Floor(p.Longitude * 100))}
}

// needIndex builds the index of all known stations on first use.
func (b *Cache) needIndex() {
	if b.index != nil {
		return
	}
	b.index = &stationIndex{cells: make(map[indexCell][]string), places: make(map[string][]string)}
	for _, s := range b.Known {
		b.index.add(&s)
	}
}

// add indexes a station by its position and, if it is a reference station, by its names. The index keeps entries of
// earlier positions and names, so callers must compare a result with the present station.
func (x *stationIndex) add(s *air.Station) {
	if s.Located() {
		appendNew(x.cells, cellOf(point(s)), s.ID)
	}
	if s.Kind != air.Reference {
		return
	}
	t := parseTitle(s.Name, s.City)
	for _, place := range []string{t.place, t.former} {
		if place != "" {
			appendNew(x.places, placeKey(s, place), s.ID)
		}
	}
}

func appendNew[K comparable](m map[K][]string, key K, id string) {
	if !slices.Contains(m[key], id) {
		m[key] = append(m[key], id)
	}
}

func placeKey(s *air.Station, place string) string {
	return s.City + "\t" + s.State + "\t" + place
}

// near returns the stations in the cell of a position and in the eight cells around it. These include every station
// within 800 m.
func (x *stationIndex) near(p geo.Point) []string {
	if !p.Known() {
		return nil
	}
	at := cellOf(p)
	var found []string
	for lat := at.lat - 1; lat <= at.lat+1; lat++ {
		for lon := at.lon - 1; lon <= at.lon+1; lon++ {
			found = append(found, x.cells[indexCell{lat, lon}]...)
		}
	}
	return found
}

// named returns the reference stations in the city of s with `place` as present or former place (see parseTitle).
func (x *stationIndex) named(s *air.Station, place string) []string {
	if place == "" {
		return nil
	}
	return x.places[placeKey(s, place)]
}
