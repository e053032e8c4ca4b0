// Package ranking answers GET /v1/rankings: cities by their index or by the annual mean of a pollutant.
package ranking

import (
	"maps"
	"slices"
	"strings"
	"time"

	"vayu/query/param"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/parameter"
	"vayu/schema/spelling"
)

// Params returns the names of the query parameters of GET /v1/rankings.
func Params() []string {
	return []string{"period", "date", "parameter", "state", "order", "limit", "cursor"}
}

// These are the periods of a ranking.
const (
	current = "now"
	daily   = "day"
	monthly = "month"
	yearly  = "year"
)

// These are the orders of a ranking.
const (
	highest = "highest"
	lowest  = "lowest"
)

// index is the default of the query parameter "parameter": the National AQI.
const index = "aqi"

// Request selects a ranking. [Parse] makes it.
type Request struct {
	period      string
	first, last schema.Day // of the period, last is not in the future; 0 for now
	parameter   string     // aqi, or a pollutant
	unit        string
	state       string // "" for all
	lowest      bool
	params      map[string]string
}

// Now reports whether the ranking is of the current figures, which needs no query to ClickHouse.
func (r *Request) Now() bool { return r.period == current }

// Parse parses the parameters, which [param.Texts] has accepted. The error is a *schema.Problem.
func Parse(params map[string]string, now time.Time) (r Request, err error) {
	r = Request{period: current, parameter: index, params: params}
	if text, ok := params["period"]; ok {
		r.period = text
	}
	if all := []string{current, daily, monthly, yearly}; !slices.Contains(all, r.period) {
		return r, param.Invalid("period", "The period must be now, day, month or year."+spelling.DidYouMean(r.period, all))
	}
	if err := r.parseDate(schema.DayOf(now)); err != nil {
		return r, err
	}
	if err := r.parseParameter(); err != nil {
		return r, err
	}
	if text, ok := params["state"]; ok {
		if r.state, err = station.ParseState(text); err != nil {
			return r, err
		}
	}
	if text, ok := params["order"]; ok {
		if r.lowest = text == lowest; !r.lowest && text != highest {
			return r, param.Invalid("order", "The order must be highest or lowest.")
		}
	}
	return r, nil
}

// parseDate sets the first and the last day of the period that contains the date in the parameter "date". The default
// is yesterday. A running month or year ends yesterday, because today has no final figures.
func (r *Request) parseDate(today schema.Day) (err error) {
	text, given := r.params["date"]
	switch {
	case given && r.Now():
		return param.Conflict("date", "The period now has no date.")
	case r.Now():
		return nil
	}
	day := today - 1
	if given {
		if day, err = param.Day("date", text); err != nil {
			return err
		}
	}
	if day > today {
		return param.Invalid("date", "The date is in the future (Indian time).")
	}
	r.first, r.last = day, day
	year, month, _ := day.Start().In(schema.India).Date()
	start := func(year int, month time.Month) schema.Day {
		return schema.DayOf(time.Date(year, month, 1, 12, 0, 0, 0, schema.India))
	}
	switch r.period {
	case monthly:
		r.first, r.last = start(year, month), start(year, month+1)-1
	case yearly:
		r.first, r.last = start(year, time.January), start(year+1, time.January)-1
	}
	if r.period != daily {
		r.last = max(min(r.last, today-1), r.first)
	}
	return nil
}

// parseParameter parses the query parameter "parameter". Only a ranking of a year can be by a pollutant, because the
// database view `ranking` has only years.
func (r *Request) parseParameter() error {
	text, ok := r.params["parameter"]
	if !ok || text == index {
		return nil
	}
	p, ok := parameter.Parse(text)
	if !ok || !p.Indexed() {
		return param.Invalid("parameter", "The parameter must be aqi, pm25, pm10, no2, so2, co, o3, nh3 or pb.")
	}
	if r.period != yearly {
		return param.Conflict("parameter", "Only a year has a ranking by a pollutant. Send period=year.")
	}
	r.parameter, r.unit = p.ID(), p.Unit()
	return nil
}

// list returns the name of the ranking, which its cursors contain. A cursor of another ranking is invalid.
func (r *Request) list() string {
	name := []string{"ranking"}
	for _, p := range slices.Sorted(maps.Keys(r.params)) {
		if p != "limit" && p != "cursor" {
			name = append(name, p, r.params[p])
		}
	}
	return strings.Join(name, " ")
}
