package station

import (
	"slices"
	"strings"

	"vayu/query/param"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/spelling"
)

// filter selects stations or cities of a list. The zero value selects all.
type filter struct {
	box   *param.Box // nil for everywhere
	state string     // canonical name; "" for all states
	kind  string     // name of a kind of stations; "" for all kinds
}

// parseFilter parses the parameters "bbox", "state" and "kind" of a list. Its error is a *schema.Problem.
func parseFilter(params map[string]string) (f filter, err error) {
	if text, ok := params["bbox"]; ok {
		box, err := param.ParseBox(text)
		if err != nil {
			return f, err
		}
		f.box = &box
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

// The method `list` returns the name of a filtered list: `name`, followed by the parameters of the filter. A cursor
// contains the name of its list, so that the cursor is valid only with the same filter.
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

// city reports whether the filter selects city i of a snapshot. If the filter has a kind of stations, the city must
// have a station of that kind.
func (f *filter) city(s *snapshot.Snapshot, i int) bool {
	c := &s.Cities[i]
	return f.place(c.Position, c.State) && (f.kind == "" || slices.ContainsFunc(c.Stations, func(n int32) bool { return s.Stations[n].Kind.String() == f.kind }))
}

func (f *filter) place(p places.Point, state string) bool {
	return (f.box == nil || f.box.Contains(p)) && (f.state == "" || air.CleanState(state) == f.state)
}

// maxStates is the largest number of similar states in an error.
const maxStates = 5

// ParseState returns the canonical name of the state in the parameter "state". Case, blanks and accents do not
// matter. It accepts names in ten languages, old names and codes. The error is a *schema.Problem with similar names.
func ParseState(text string) (string, error) {
	if name, ok := gazetteer.FindState(text); ok {
		return name, nil
	}
	p := schema.NewProblem(schema.InvalidRequest, "state", "There is no such state or union territory.")
	if p.Suggestions = spelling.Similar(text, gazetteer.States(), maxStates); len(p.Suggestions) > 0 {
		p.Message += " Did you mean " + strings.Join(p.Suggestions, ", ") + "?"
	}
	return "", p
}
