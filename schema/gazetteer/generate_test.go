package gazetteer_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"vayu/internal/testing/realdata"
	"vayu/schema/air"
)

// vertex is a position in thousandths of a degree, longitude first, which is the
// precision of the boundaries' file.
type vertex [2]int

// TestStatesMatchBoundaries generates states.txt from the constituencies
// and compares it with the embedded file. -update writes the file.
func TestStatesMatchBoundaries(t *testing.T) {
	t.Parallel()
	generated(t, "states.txt", dissolveStates(t))
}

// dissolveStates joins the constituencies of each state. Constituencies share
// simplified borders. So a border within a state occurs an even number of times
// among the state's edges. The edges with an odd number are the state's outline.
func dissolveStates(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(realdata.Path(t, "boundaries/india_pc_2019_simplified.geojson"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Features []struct {
			Properties struct {
				State string `json:"st_name"`
				Name  string `json:"pc_name"`
			}
			Geometry struct {
				Type        string
				Coordinates json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	outlines := map[string]map[[2]vertex]bool{}
	for _, f := range file.Features {
		var polygons [][][][2]float64
		switch f.Geometry.Type {
		case "Polygon":
			polygons = make([][][][2]float64, 1)
			err = json.Unmarshal(f.Geometry.Coordinates, &polygons[0])
		case "MultiPolygon":
			err = json.Unmarshal(f.Geometry.Coordinates, &polygons)
		default:
			t.Fatalf("constituency %q is a %s", f.Properties.Name, f.Geometry.Type)
		}
		if err != nil {
			t.Fatalf("constituency %q: %v", f.Properties.Name, err)
		}
		name := stateOf(f.Properties.State, f.Properties.Name)
		if outlines[name] == nil {
			outlines[name] = map[[2]vertex]bool{}
		}
		for _, rings := range polygons {
			for _, ring := range rings {
				toggle(outlines[name], ring)
				if name == "Ladakh" {
					west := westOf(t, ring)
					toggle(outlines["Ladakh"], west)
					if outlines["Jammu and Kashmir"] == nil {
						outlines["Jammu and Kashmir"] = map[[2]vertex]bool{}
					}
					toggle(outlines["Jammu and Kashmir"], west)
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString("# Outlines of India's states and union territories, generated from the parliamentary constituencies of 2019\n" +
		"# by Arun Ganesh (CC0, datameet/maps), and the border of Neelum (MIT, datameet/maps): go test ./schema/gazetteer\n" +
		"# -update. One ring a line: the state's name, a tab, then longitude,latitude in thousandths of a degree, the first\n" +
		"# absolute, each other relative to the one before.\n")
	names := make([]string, 0, len(outlines))
	for name := range outlines {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, ring := range rings(outlines[name]) {
			b.WriteString(name + "\t")
			last := vertex{}
			for i, v := range ring {
				if i > 0 {
					b.WriteByte(' ')
				}
				fmt.Fprintf(&b, "%d,%d", v[0]-last[0], v[1]-last[1])
				last = v
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// stateOf returns the current name of a constituency's state. The file predates
// two changes. Ladakh became a union territory in October 2019, and two union
// territories were joined in January 2020.
func stateOf(state, constituency string) string {
	switch {
	case constituency == "Ladakh":
		return "Ladakh"
	case state == "Daman & Diu" || state == "Dadra & Nagar Haveli":
		return "Dadra and Nagar Haveli and Daman and Diu"
	}
	return air.CleanState(strings.ReplaceAll(state, "&", "and"))
}

// districtsBorder is the border between the districts Muzaffarabad and Leh, from the Line of Control to the north-west. The
// constituency Ladakh contains Muzaffarabad, Mirpur and Punch, which are districts of Jammu and Kashmir since 2019. The
// ends are vertices of the constituency. The others are of DataMeet's outline of the district Neelum (MIT).
var districtsBorder = [][2]float64{
	{74.813, 34.709}, {74.786, 34.755}, {74.772, 34.773}, {74.761, 34.806}, {74.736, 34.833}, {74.727, 34.85}, {74.703, 34.854},
	{74.684, 34.873}, {74.666, 34.9}, {74.646, 34.896}, {74.607, 34.911}, {74.579, 34.897}, {74.57, 34.907}, {74.57, 34.96},
	{74.576, 34.99}, {74.589, 34.999}, {74.569, 35.012}, {74.54, 35.026}, {74.541, 35.054}, {74.524, 35.077}, {74.51, 35.101},
	{74.463, 35.108}, {74.456, 35.132}, {74.431, 35.123}, {74.42, 35.107}, {74.385, 35.078}, {74.363, 35.057}, {74.333, 35.063},
	{74.301, 35.066}, {74.282, 35.046}, {74.257, 35.04}, {74.226, 35.069}, {74.21, 35.085}, {74.169, 35.079}, {74.142, 35.099},
	{74.133, 35.112},
}

// westOf returns the part of the constituency Ladakh that is west of districtsBorder, as a closed ring.
func westOf(t *testing.T, constituency [][2]float64) [][2]float64 {
	t.Helper()
	first := slices.Index(constituency, districtsBorder[0])
	last := slices.Index(constituency, districtsBorder[len(districtsBorder)-1])
	if first < 0 || last < first {
		t.Fatalf("the border of the districts begins at vertex %d of the constituency and ends at %d", first, last)
	}
	west := slices.Clone(constituency[first : last+1])
	for _, at := range slices.Backward(districtsBorder[:len(districtsBorder)-1]) {
		west = append(west, at)
	}
	return west
}

func toggle(edges map[[2]vertex]bool, ring [][2]float64) {
	at := func(i int) vertex {
		return vertex{int(math.Round(ring[i][0] * 1000)), int(math.Round(ring[i][1] * 1000))}
	}
	for i := 1; i < len(ring); i++ {
		a, b := at(i-1), at(i)
		if a == b {
			continue
		}
		if before(b, a) {
			a, b = b, a
		}
		if edge := [2]vertex{a, b}; edges[edge] {
			delete(edges, edge)
		} else {
			edges[edge] = true
		}
	}
}

func before(a, b vertex) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }

// rings chains edges to closed rings, deterministically. At each vertex an even
// number of edges meet, so a walk ends where it began. It drops slivers of less
// than maxSliver.
func rings(edges map[[2]vertex]bool) [][]vertex {
	next := map[vertex][]vertex{}
	for e := range edges {
		next[e[0]] = append(next[e[0]], e[1])
		next[e[1]] = append(next[e[1]], e[0])
	}
	starts := make([]vertex, 0, len(next))
	for v, others := range next {
		starts = append(starts, v)
		slices.SortFunc(others, func(a, b vertex) int {
			if before(a, b) {
				return -1
			}
			return 1
		})
	}
	slices.SortFunc(starts, func(a, b vertex) int {
		if before(a, b) {
			return -1
		}
		return 1
	})
	var out [][]vertex
	for _, start := range starts {
		for len(next[start]) > 0 {
			ring := []vertex{start}
			for at := start; ; {
				to := next[at][0]
				next[at] = next[at][1:]
				i := slices.Index(next[to], at)
				next[to] = slices.Delete(next[to], i, i+1)
				if to == start {
					break
				}
				ring = append(ring, to)
				at = to
			}
			if area(ring) >= maxSliver {
				out = append(out, ring)
			}
		}
	}
	return out
}

// maxSliver is the area, in square thousandths of a degree, below which a ring is
// an artefact of simplification: 100 are about 1.1 km².
const maxSliver = 100

func area(ring []vertex) int {
	sum := 0
	for i, v := range ring {
		w := ring[(i+1)%len(ring)]
		sum += v[0]*w[1] - w[0]*v[1]
	}
	return max(sum, -sum) / 2
}

// generated compares a generated file with the embedded one.
func generated(t *testing.T, name, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	held, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(held) != text {
		t.Errorf("%s is not what its data give; go test ./schema/gazetteer -update writes it", name)
	}
}
