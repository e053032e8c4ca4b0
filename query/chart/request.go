// Package chart draws charts of a city or a station. A chart shows the AQI as a line or a calendar. Or it shows a
// pollutant by the hour of the day or by the direction of the wind. Charts are SVG or PNG, in light or dark colours,
// with a description in words.
package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vayu/query/history"
	"vayu/query/param"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// Params returns the names of the query parameters of a chart.
func Params() []string {
	return []string{"city", "station", "from", "to", "kind", "parameter", "theme"}
}

// Request selects a chart.
type Request struct {
	City, Station string // one of them
	From, To      schema.Day
	Kind          string              // name of a kind: line, calendar, diurnal or rose
	Parameter     parameter.Parameter // of diurnal and rose
	Theme         string              // light, dark; "" means the reader's preference in SVG, and light in PNG
}

// kind describes a kind of chart. `days` is the length of the range if the request has no parameter "from".
type kind struct {
	name      string
	days      int
	parameter bool // the request parameter "parameter" selects a pollutant
}

// hourDays is the largest range, in days, for which a line has a point for each hour, as in GET /v1/aqi.
const hourDays = 7

func kinds() []kind {
	return []kind{{"line", 30, false}, {"calendar", 365, false}, {"diurnal", 30, true}, {"rose", 30, true}}
}

// Parse parses the parameters. `today` is the present Indian day. The error is a *schema.Problem.
func Parse(params map[string]string, today schema.Day) (r Request, err error) {
	r = Request{City: params["city"], Station: params["station"], Kind: params["kind"], Theme: params["theme"]}
	switch _, city := params["city"]; {
	case city && r.Station != "":
		return r, param.Conflict("station", "Send only one of city and station.")
	case r.City == "" && r.Station == "":
		return r, param.Invalid("city", "A chart requires a city or a station.")
	case len(r.City) > maxName || len(r.Station) > maxName:
		return r, param.Invalid("city", "A name has at most "+strconv.Itoa(maxName)+" bytes.")
	}
	if r.Kind == "" {
		r.Kind = kinds()[0].name
	}
	at := slices.IndexFunc(kinds(), func(k kind) bool { return k.name == r.Kind })
	if at < 0 {
		return r, param.Invalid("kind", "The kind must be line, calendar, diurnal or rose.")
	}
	if r.Theme != "" && r.Theme != "light" && r.Theme != "dark" {
		return r, param.Invalid("theme", "The theme must be light or dark.")
	}
	if err := r.parseParameter(params, kinds()[at]); err != nil {
		return r, err
	}
	days, err := history.ParseOptionalSpan(params, kinds()[at].days, today)
	r.From, r.To = days.First, days.Last
	return r, err
}

// maxName limits the name of a city or station, in bytes. The longest name in the gazetteer has 96.
const maxName = 200

// defaultParameter is the pollutant of a chart whose request names none. Generated clients send this default with
// every request, so every kind of chart accepts it.
const defaultParameter = "pm25"

func (r *Request) parseParameter(params map[string]string, k kind) error {
	text, given := params["parameter"]
	switch {
	case given && !k.parameter && text != defaultParameter:
		return param.Conflict("parameter", "A "+k.name+" shows the AQI. The kinds diurnal and rose take a parameter.")
	case !given:
		text = defaultParameter
	}
	p, ok := parameter.Parse(text)
	if !ok || !p.Indexed() {
		return param.Invalid("parameter", "The parameter must be pm25, pm10, no2, so2, co, o3, nh3 or pb.")
	}
	r.Parameter = p
	return nil
}

// Hourly reports whether the chart is a line with a point for each hour.
func (r *Request) Hourly() bool { return r.Kind == "line" && r.To-r.From < hourDays }

// span returns the days of the chart as text.
func (r *Request) span() string { return fmt.Sprintf("%s to %s", r.From, r.To) }

// noData returns the problem for a place that has no AQI in the range.
func (r *Request) noData(label string) *schema.Problem {
	return schema.NewProblem(schema.NoData, "from", fmt.Sprintf("There are no data for %s for %s.", label, r.span()))
}

// noMeans returns the problem for a place that lacks the hourly means of the chart.
func (r *Request) noMeans(label string) *schema.Problem {
	if r.Kind == "rose" {
		return schema.NewProblem(schema.NoData, "kind", fmt.Sprintf(
			"No station of %s has hourly means of wind speed, wind direction and %s for %s. The kinds line and calendar need only the AQI.", label, r.Parameter.Name(), r.span()))
	}
	return schema.NewProblem(schema.NoData, "parameter", fmt.Sprintf(
		"There are no hourly means of %s for %s for %s. A source that publishes only sub-indices of the AQI has none.", r.Parameter.Name(), label, r.span()))
}

// place is the city or station that a chart shows, with its stations.
type place struct {
	Label       string   // name
	Stations    []string // ids
	Physical    []string // for each of Stations the id of the physical station, which may have several ids
	Attribution []string
}

// point is the AQI of one day, or of one hour if the line has a point for each hour.
type point struct {
	Day schema.Day
	At  uint32 // end of the hour, Unix seconds; 0 for a day
	AQI int    // 0–500
}

// add adds a station to the place.
func (p *place) add(st *air.Station) {
	p.Stations, p.Physical = append(p.Stations, st.ID), append(p.Physical, cmp.Or(st.SameAs, st.ID))
	if a := strings.TrimSpace(st.Attribution); a != "" && !slices.Contains(p.Attribution, a) {
		p.Attribution = append(p.Attribution, a)
	}
}
