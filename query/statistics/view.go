// Package statistics answers GET /v1/statistics: the views of schema/views as JSON.
package statistics

import (
	"slices"
	"strings"

	"vayu/schema/spelling"
)

// period is the length of time that a row of a view covers.
type period uint8

const (
	days    period = iota // column day
	months                // column month, the first day of the month
	years                 // column year
	seasons               // columns year and season
	whole                 // the whole series of a station
)

// view is a view that GET /v1/statistics offers.
type view struct {
	name   string
	period period
	// key is an SQL expression with a unique value for each row. Rows are sorted by this value, and a cursor contains
	// it.
	key string
	// coverage is an SQL expression for a tuple of hours, expected_hours, capture and complete.
	coverage string
	// except lists the columns that rows omit, because `coverage` replaces them.
	except string
	// ofCities means that a row is about a city, and that a request need not name a place.
	ofCities bool
}

const (
	fullCoverage = "(toUInt32(hours), toUInt32(expected_hours), capture, complete)"
	fullExcept   = "hours, expected_hours, capture, complete"
	ofStation    = "parameter || '\\t' || station || '\\t' || "
)

// catalogue lists the views that GET /v1/statistics offers. The views "openair" and "standard" of package views are
// available only in SQL.
//
//nolint:gochecknoglobals // a table
var catalogue = [...]view{
	{name: "daily", period: days, key: ofStation + "toString(day)", coverage: "(toUInt32(hours), toUInt32(24), capture, capture >= 0.75)", except: "hours, capture"},
	{name: "data_capture", period: months, key: ofStation + "toString(month)"},
	{name: "monthly_statistics", period: months, key: ofStation + "toString(month)"},
	{name: "annual_statistics", period: years, key: ofStation + "toString(year)"},
	{name: "season", period: seasons, key: ofStation + "toString(year) || toString(indexOf(['winter', 'pre-monsoon', 'monsoon', 'post-monsoon'], season))"},
	{name: "diurnal", period: years, key: ofStation + "toString(year) || leftPad(toString(hour), 2, '0')"},
	{name: "weekday", period: years, key: ofStation + "toString(year) || toString(weekday)"},
	{name: "exceedance", period: years, key: ofStation + "toString(year) || '\\t' || standard || '\\t' || period"},
	{name: "ranking", period: years, key: "parameter || '\\t' || toString(year) || leftPad(toString(rank), 6, '0') || '\\t' || city || '\\t' || state", ofCities: true},
	{name: "trend", period: whole, key: ofStation + "''"},
}

// find returns the view with a name.
func find(name string) (v view, ok bool) {
	i := slices.IndexFunc(catalogue[:], func(v view) bool { return v.name == name })
	if i < 0 {
		return v, false
	}
	v = catalogue[i]
	if v.coverage == "" {
		v.coverage, v.except = fullCoverage, fullExcept
	}
	return v, true
}

func viewNames() []string {
	all := make([]string, len(catalogue))
	for i, v := range &catalogue {
		all[i] = v.name
	}
	return all
}

// suggestion returns a sentence that proposes the most similar known names, or lists all of them.
func suggestion(name string, known []string) string {
	if question := spelling.DidYouMean(name, known); question != "" {
		return strings.TrimSpace(question)
	}
	return "There are: " + strings.Join(known, ", ") + "."
}
