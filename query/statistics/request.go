package statistics

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/param"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/parameter"
	"vayu/schema/spelling"
	"vayu/schema/views"
)

// Params lists the query parameters of GET /v1/statistics.
//
//nolint:gochecknoglobals // a table
var Params = []string{"view", "city", "state", "station", "parameters", "kinds", "standard", "from", "to", "limit", "cursor"}

// Request selects rows of a view. [Parse] makes it.
type Request struct {
	view        view
	city, state string // empty for all
	station     string
	parameters  []string
	kinds       []string
	standard    string
	from, to    schema.Day
	given       struct{ from, to bool }
	limit       int
	list        string // identifies the list in its cursors
	after       string // key of the previous page's last row; empty for the first page
}

// Parse parses and validates the parameters. It resolves names of places by the snapshot. `today`
// is the present Indian day. The error is a *schema.Problem that names the parameter.
func Parse(params map[string]string, snap *snapshot.Snapshot, today schema.Day) (Request, error) {
	var q Request
	name, given := params["view"]
	if !given {
		return q, param.Invalid("view", "The parameter view is missing. "+suggestion("", viewNames()))
	}
	var ok bool
	if q.view, ok = find(name); !ok {
		return q, param.Invalid("view", "There is no such view. "+suggestion(name, viewNames()))
	}
	for _, parse := range [...]func(map[string]string) error{
		func(p map[string]string) error { return q.place(p, snap) },
		q.parameterList, q.kindList, q.standardName,
		func(p map[string]string) error { return q.span(p, today) },
		q.page,
	} {
		if err := parse(params); err != nil {
			return q, err
		}
	}
	return q, nil
}

// place parses the parameters city, state and station.
func (q *Request) place(params map[string]string, snap *snapshot.Snapshot) error {
	var fields []string
	for _, f := range [...]string{"city", "state", "station"} {
		if _, ok := params[f]; ok {
			fields = append(fields, f)
		}
	}
	switch {
	case len(fields) > 1:
		return param.Conflict(fields[1], "Give only one of city, state and station.")
	case len(fields) == 0 && !q.view.ofCities:
		return param.Invalid("city", "The view "+q.view.name+" requires one of city, state and station.")
	case len(fields) == 0:
		return nil
	case fields[0] == "city":
		i, err := snap.Index.Find(params["city"])
		if err != nil {
			return err
		}
		q.city, q.state = snap.Cities[i].Name, snap.Cities[i].State
	case fields[0] == "state":
		return q.stateName(params["state"], snap)
	case q.view.ofCities:
		return param.Conflict("station", "The view "+q.view.name+" has cities, not stations.")
	default:
		i, ok := snap.ByID[params["station"]]
		if !ok {
			all := slices.Collect(maps.Keys(snap.ByID))
			return schema.NewProblem(schema.NotFound, "station",
				"There is no such station."+spelling.DidYouMean(params["station"], all)+" GET /v1/stations lists them.")
		}
		// A physical station may have several ids. The views contain it under one of them.
		q.station = cmp.Or(snap.Stations[i].SameAs, snap.Stations[i].ID)
	}
	return nil
}

// stateName sets the state to the one with the given name. It compares names by their gazetteer.Key.
func (q *Request) stateName(name string, snap *snapshot.Snapshot) error {
	known := map[string]string{}
	for i := range snap.Stations {
		if state := snap.Stations[i].State; state != "" {
			known[gazetteer.Key(state)] = state
		}
	}
	state, ok := known[gazetteer.Key(name)]
	if !ok {
		all := make([]string, 0, len(known))
		for key := range known {
			all = append(all, key)
		}
		slices.Sort(all)
		message := "There are no stations in such a state."
		if found := spelling.Similar(gazetteer.Key(name), all, 1); len(found) > 0 {
			message += " Did you mean " + known[found[0]] + "?"
		}
		return schema.NewProblem(schema.LocationNotFound, "state", message)
	}
	q.state = state
	return nil
}

func (q *Request) parameterList(params map[string]string) error {
	text, ok := params["parameters"]
	if !ok {
		return nil
	}
	for word := range strings.SplitSeq(text, ",") {
		p, ok := parameter.Parse(word)
		if !ok {
			var known []string
			for p := range parameter.All() {
				known = append(known, p.ID())
			}
			return param.Invalid("parameters", "There is no parameter "+httpapi.Printable(word)+". "+suggestion(word, known))
		}
		q.parameters = append(q.parameters, p.ID())
	}
	return nil
}

// kindList parses the parameter "kinds". By default it excludes low-cost sensors, unless the request names a
// station.
func (q *Request) kindList(params map[string]string) error {
	text, ok := params["kinds"]
	switch {
	case ok && q.view.ofCities:
		return param.Conflict("kinds", "The view "+q.view.name+" never has sensors.")
	case ok && q.station != "":
		return param.Conflict("kinds", "A station has one kind.")
	case q.view.ofCities || q.station != "":
		return nil
	case !ok:
		q.kinds = []string{air.Reference.String(), air.CityMean.String()}
		return nil
	}
	for word := range strings.SplitSeq(text, ",") {
		kind, ok := air.ParseStationKind(strings.TrimSpace(word))
		if !ok {
			return param.Invalid("kinds", "The kinds are reference, sensor and city_mean, separated by a comma.")
		}
		q.kinds = append(q.kinds, kind.String())
	}
	return nil
}

func (q *Request) standardName(params map[string]string) error {
	text, ok := params["standard"]
	switch {
	case !ok:
	case q.view.name != "exceedance":
		return param.Conflict("standard", "Only the view exceedance has standards.")
	case text != views.NAAQS && text != views.WHO:
		return param.Invalid("standard", "There is no such standard. "+suggestion(text, []string{views.NAAQS, views.WHO}))
	}
	q.standard = text
	return nil
}

// span parses the parameters "from" and "to". A row with a longer period, such as a year, counts if its period
// overlaps the range.
func (q *Request) span(params map[string]string, today schema.Day) error {
	for _, f := range [...]struct {
		name  string
		day   *schema.Day
		given *bool
	}{{"from", &q.from, &q.given.from}, {"to", &q.to, &q.given.to}} {
		text, ok := params[f.name]
		if !ok {
			continue
		}
		day, err := schema.ParseDay(text)
		if err != nil || len(text) != len(time.DateOnly) {
			return param.Invalid(f.name, "The parameter "+f.name+" must be an existing date, as YYYY-MM-DD.")
		}
		if q.view.period == whole {
			return param.Conflict(f.name, "The view "+q.view.name+" is about the whole series of a station.")
		}
		*f.day, *f.given = day, true
	}
	switch {
	case q.given.to && q.to > today:
		return param.Invalid("to", "The range ends in the future (Indian time).")
	case q.given.from && q.from > today:
		return param.Invalid("from", "The range begins in the future (Indian time).")
	case q.given.from && q.given.to && q.from > q.to:
		return param.Invalid("from", "The range ends before it begins.")
	}
	return nil
}

// page parses the parameters limit and cursor. A cursor is valid only in requests with the same parameters.
func (q *Request) page(params map[string]string) error {
	limit, wrong := httpapi.PageSize(params)
	if wrong != nil {
		return wrong
	}
	q.limit = limit
	q.list = "statistics"
	for _, name := range Params[:len(Params)-2] {
		q.list += "\x00" + params[name]
	}
	text, ok := params["cursor"]
	if !ok {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	after, ours := strings.CutPrefix(string(raw), q.list+"\x00")
	if err != nil || !ours || after == "" {
		return param.Invalid("cursor", "The cursor is not from this list. Use next_cursor of the previous page.")
	}
	q.after = after
	return nil
}

// cursor returns the cursor of the page after the row with the key `key`.
func (q *Request) cursor(key string) *string {
	text := base64.RawURLEncoding.EncodeToString([]byte(q.list + "\x00" + key))
	return &text
}
