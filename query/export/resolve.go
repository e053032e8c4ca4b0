// Package export writes tables of air quality data as files, for GET /v1/export/{table} and for `vayu export`. An
// export is streamed. An interrupted export can be continued, because equal data result in equal bytes.
package export

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"vayu/query/aggregate"
	"vayu/query/dataset"
	"vayu/query/param"
	"vayu/query/places"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/parameter"
	"vayu/schema/spelling"
)

// Query holds the parameters of an export as text; "" for an absent parameter.
type Query struct {
	Table, From, To, City, Station, State, Parameters, Format string
	// Account is the id of the account whose private stations are included; "" for none.
	Account string
	// Today is the present Indian day. From and To cannot be later.
	Today schema.Day
}

// Request is a query that Resolve has validated.
type Request struct {
	Selection dataset.Selection
	Format    dataset.Format
	facts     map[string]string // the table and the parameters of the query, for the file's metadata
}

// maxSuggestions is the largest number of similar names that an error suggests.
const maxSuggestions = 5

// resolver validates a query for an export against the tables of a database.
type resolver struct {
	conn     aggregate.Conn
	database string
	q        *Query
	out      Request
}

// Resolve validates a query, and looks up its table, columns and places in ClickHouse. An error about a parameter is a
// *schema.Problem with the name of the parameter, and suggests similar names. Other errors are those of ClickHouse.
func Resolve(ctx context.Context, conn aggregate.Conn, database string, q Query) (Request, error) {
	r := &resolver{conn: conn, database: database, q: &q}
	for _, step := range []func(context.Context) error{r.table, r.format, r.days, r.parameters, r.place, r.scope} {
		if err := step(ctx); err != nil {
			return Request{}, err
		}
	}
	r.out.Selection.Account = q.Account
	r.out.facts = map[string]string{"vayu:table": q.Table}
	for name, value := range map[string]string{
		"from": q.From, "to": q.To, "city": r.out.Selection.City, "state": r.out.Selection.State,
		"station": q.Station, "parameters": strings.Join(r.out.Selection.Parameters, ","),
	} {
		if value != "" {
			r.out.facts["vayu:"+name] = value
		}
	}
	return r.out, nil
}

// unknown returns the problem for an unknown name. It suggests similar names, or lists `known` if it has at most 20.
func unknown(code schema.Code, field, what, name string, known []string) *schema.Problem {
	p := schema.NewProblem(code, field, fmt.Sprintf("There is no %s %q.", what, name))
	if p.Suggestions = spelling.Similar(name, known, maxSuggestions); len(p.Suggestions) > 0 {
		p.Message += " Did you mean " + strings.Join(p.Suggestions, ", ") + "?"
	} else if len(known) <= 20 {
		p.Message += " There are " + strings.Join(known, ", ") + "."
	}
	return p
}

func (r *resolver) table(context.Context) error {
	if r.q.Table == "openair" { // see dataset.Tables
		p := schema.NewProblem(schema.NotFound, "table", "The view openair is not exported. Read it with SQL, or export station_parameter_hour, which has its values in rows.")
		p.Suggestions = []string{"station_parameter_hour"}
		return p
	}
	t, ok := dataset.Find(r.q.Table)
	if !ok {
		return unknown(schema.NotFound, "table", "table", r.q.Table, dataset.Names())
	}
	r.out.Selection.Table = t
	return nil
}

func (r *resolver) format(context.Context) error {
	if r.q.Format == "" {
		r.q.Format = "parquet"
	}
	f, ok := dataset.Formats[r.q.Format]
	if !ok {
		return unknown(schema.InvalidRequest, "format", "format", r.q.Format, dataset.FormatNames())
	}
	r.out.Format = f
	return nil
}

func (r *resolver) days(context.Context) error {
	s := &r.out.Selection
	for _, one := range []struct {
		field, text string
		day         *schema.Day
	}{{"from", r.q.From, &s.From}, {"to", r.q.To, &s.To}} {
		if one.text == "" {
			continue
		}
		if s.Table.Time == "" {
			return param.Invalid(one.field, "The table "+s.Table.Name+" has no column of time.")
		}
		day, err := schema.ParseDay(one.text)
		if err != nil || len(one.text) != len("2006-01-02") {
			return param.Invalid(one.field, "The parameter "+one.field+" must be an existing date, as YYYY-MM-DD.")
		}
		if day > r.q.Today && !s.Table.Forecast {
			return param.Invalid(one.field, "The parameter "+one.field+" is a day in the future (Indian time).")
		}
		*one.day = day
	}
	if s.From != 0 && s.To != 0 && s.From > s.To {
		return param.Invalid("from", "The range ends before it begins.")
	}
	return nil
}

// aqi is a value of the query parameter `parameters`, which selects the forecasts of the AQI. The catalogue of package
// parameter does not contain it.
const aqi = "aqi"

func (r *resolver) parameters(context.Context) error {
	t := &r.out.Selection.Table
	if r.q.Parameters == "" {
		return nil
	}
	var known []string
	switch {
	case t.Wide:
		for _, p := range air.Pollutants {
			known = append(known, p.String())
		}
	case t.Parameter != "":
		for p := range parameter.All() {
			known = append(known, p.ID())
		}
		if t.Forecast {
			known = append(known, aqi)
		}
	default:
		return param.Invalid("parameters", "The table "+t.Name+" has no parameters.")
	}
	for name := range strings.SplitSeq(r.q.Parameters, ",") {
		name = strings.TrimSpace(name)
		if !t.Forecast || name != aqi {
			p, ok := parameter.Parse(name)
			if !ok || !slices.Contains(known, p.ID()) {
				return unknown(schema.InvalidRequest, "parameters", "parameter", name, known)
			}
			name = p.ID()
		}
		r.out.Selection.Parameters = append(r.out.Selection.Parameters, name)
	}
	slices.Sort(r.out.Selection.Parameters)
	r.out.Selection.Parameters = slices.Compact(r.out.Selection.Parameters)
	return nil
}

func (r *resolver) place(ctx context.Context) error {
	t := &r.out.Selection.Table
	given := ""
	for _, one := range []struct {
		field, text string
		has         bool
	}{
		{"city", r.q.City, t.City || t.Forecast || t.Station != ""}, {"station", r.q.Station, t.Forecast || t.Station != ""},
		{"state", r.q.State, t.City || t.Forecast || t.Station != ""},
	} {
		switch {
		case one.text == "":
			continue
		case given != "":
			return param.Conflict(one.field, "Give one of city, station and state.")
		case !one.has:
			return param.Invalid(one.field, "The table "+t.Name+" has no column for "+one.field+".")
		}
		given = one.field
	}
	switch given {
	case "station":
		return r.station(ctx)
	case "state":
		return r.state(ctx)
	case "city":
		return r.city(ctx)
	}
	return nil
}

// scope rejects a request for a view of stations or cities that names neither a place nor exactly one parameter.
// ClickHouse computes a view for each request, and one request must not occupy ClickHouse for minutes.
func (r *resolver) scope(context.Context) error {
	s := &r.out.Selection
	if !s.Table.Derived || s.Table.Station == "" && !s.Table.City || s.City != "" || s.State != "" || s.Station != "" || len(s.Parameters) == 1 {
		return nil
	}
	return param.Invalid("parameters", "The view "+s.Table.Name+" is computed for the request. Give a city, a state, a station or exactly one parameter.")
}

// station finds a public station, or a private station of the account. Views contain only public stations. They
// contain a physical station under only one of its ids.
func (r *resolver) station(ctx context.Context) error {
	query := "SELECT concat(id, '\\n', same_as) FROM " + r.database + ".station FINAL"
	if !r.out.Selection.Table.Derived {
		query = "SELECT id FROM " + r.database + ".station FINAL UNION DISTINCT SELECT id FROM " + r.database + ".pushed_station FINAL WHERE account = {account:String}"
	}
	known, err := r.names(ctx, query+" ORDER BY 1", aggregate.Param("account", r.q.Account))
	if err != nil {
		return err
	}
	preferred := map[string]string{}
	for i, one := range known {
		id, sameAs, _ := strings.Cut(one, "\n")
		known[i], preferred[id] = id, sameAs
	}
	if !slices.Contains(known, r.q.Station) {
		return unknown(schema.NotFound, "station", "station", r.q.Station, known)
	}
	r.out.Selection.Station = cmp.Or(preferred[r.q.Station], r.q.Station)
	return nil
}

func (r *resolver) state(ctx context.Context) error {
	known, err := r.names(ctx, "SELECT DISTINCT toString(state) FROM "+r.database+".station FINAL WHERE state != '' ORDER BY 1")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(known, func(state string) bool { return gazetteer.Key(state) == gazetteer.Key(r.q.State) })
	if i < 0 {
		return unknown(schema.LocationNotFound, "state", "state with a station called", r.q.State, known)
	}
	r.out.Selection.State = known[i]
	return nil
}

func (r *resolver) city(ctx context.Context) error {
	known, err := r.names(ctx, "SELECT DISTINCT concat(city, '\\n', state) FROM "+r.database+".station FINAL WHERE city != '' ORDER BY 1")
	if err != nil {
		return err
	}
	cities := make([]places.City, len(known))
	for i, one := range known {
		cities[i].Name, cities[i].State, _ = strings.Cut(one, "\n")
	}
	i, err := places.NewIndex(cities).Find(r.q.City)
	if err != nil {
		return err
	}
	r.out.Selection.City, r.out.Selection.State = cities[i].Name, cities[i].State
	return nil
}

// names runs a query with one column, and returns its texts.
func (r *resolver) names(ctx context.Context, query string, args ...any) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	rows, err := r.conn.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("reading names: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("reading names: %w", err)
		}
		all = append(all, name)
	}
	return all, rows.Err()
}
