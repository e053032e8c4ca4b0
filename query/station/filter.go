package station

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"vayu/query/param"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
	"vayu/schema/spelling"
)

// filter selects stations or cities of a list. The zero value selects all.
type filter struct {
	box   *box
	state string // canonical name; "" for all states
	kind  string // name of a kind of stations; "" for all kinds
}

// box is an area between two meridians and two parallels, in degrees. Its sides belong to it.
type box struct{ west, south, east, north float64 }

// parseFilter parses the parameters bbox, state and kind of a list. Its error is a *schema.Problem.
func parseFilter(params map[string]string) (f filter, err error) {
	if text, ok := params["bbox"]; ok {
		if f.box, err = parseBox(text); err != nil {
			return f, err
		}
	}
	if text, ok := params["kind"]; ok {
		if _, ok := air.ParseStationKind(text); !ok {
			return f, param.Invalid("kind", "The kind must be reference, sensor or city_mean."+spelling.DidYouMean(text, kindNames()))
		}
		f.kind = text
	}
	if text, ok := params["state"]; ok {
		if f.state, err = ParseState(text); err != nil {
			return f, err
		}
	}
	return f, nil
}

func kindNames() []string {
	var names []string
	for _, k := range air.StationKinds {
		names = append(names, k.String())
	}
	return names
}

// list returns the name of a list that the filter shortens. Cursors have the name of their list, so that a cursor is
// valid only with the same filter.
func (f *filter) list(name string, params map[string]string) string {
	for _, p := range [...]string{"bbox", "state", "kind"} {
		if text, ok := params[p]; ok {
			name += " " + p + " " + text
		}
	}
	return name
}

// station reports whether the filter selects a station.
func (f *filter) station(st *air.Station) bool {
	at := places.Point{Latitude: st.Latitude, Longitude: st.Longitude}
	return f.place(at, st.State) && (f.kind == "" || st.Kind.String() == f.kind)
}

// city reports whether the filter selects city i of a snapshot.
func (f *filter) city(s *snapshot.Snapshot, i int) bool {
	return f.place(s.Cities[i].Position, s.Cities[i].State)
}

func (f *filter) place(p places.Point, state string) bool {
	return (f.box == nil || p.Known() && f.box.contains(p)) && (f.state == "" || air.CleanState(state) == f.state)
}

func (b *box) contains(p places.Point) bool {
	return b.west <= p.Longitude && p.Longitude <= b.east && b.south <= p.Latitude && p.Latitude <= b.north
}

// maxBox limits the length of the text of a bbox, in bytes.
const maxBox = 100

// parseBox parses the text west,south,east,north in degrees, the order of GeoJSON.
func parseBox(text string) (*box, error) {
	const form = "The bbox must be west,south,east,north in degrees, for example 76.8,28.4,77.4,28.9."
	parts := strings.Split(text, ",")
	if len(parts) != 4 || len(text) > maxBox {
		return nil, param.Invalid("bbox", form)
	}
	var sides [4]float64
	for i, part := range parts {
		part = strings.TrimSpace(part)
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || strings.Trim(part, "-.0123456789") != "" {
			return nil, param.Invalid("bbox", form)
		}
		sides[i] = v
	}
	b := &box{sides[0], sides[1], sides[2], sides[3]}
	switch {
	case geo.InIndia(b.west, b.south) && geo.InIndia(b.east, b.north):
		return nil, param.Invalid("bbox", "The bbox begins with a latitude. Its order is west,south,east,north.")
	case math.Abs(b.south) > 90 || math.Abs(b.north) > 90:
		return nil, param.Invalid("bbox", "The second and fourth number of the bbox are latitudes, between -90 and 90.")
	case math.Abs(b.west) > 180 || math.Abs(b.east) > 180:
		return nil, param.Invalid("bbox", "The first and third number of the bbox are longitudes, between -180 and 180.")
	case b.south > b.north:
		return nil, param.Invalid("bbox", "The bbox has its south above its north.")
	case b.west > b.east:
		return nil, param.Invalid("bbox", "The bbox has its west beyond its east. A bbox cannot cross the date line: send two requests.")
	}
	return b, nil
}

// maxStates is the largest number of similar states in an error.
const maxStates = 5

// ParseState returns the canonical name of the state in the parameter state. Case, blanks and accents do not matter, and
// old names are known. The error is a *schema.Problem with similar names.
func ParseState(text string) (string, error) {
	names := gazetteer.States()
	key := gazetteer.Key(air.CleanState(text))
	if i := slices.IndexFunc(names, func(name string) bool { return gazetteer.Key(name) == key }); i >= 0 {
		return names[i], nil
	}
	p := schema.NewProblem(schema.InvalidRequest, "state", "There is no such state or union territory.")
	if p.Suggestions = spelling.Similar(text, names, maxStates); len(p.Suggestions) > 0 {
		p.Message += " Did you mean " + strings.Join(p.Suggestions, ", ") + "?"
	}
	return "", p
}
