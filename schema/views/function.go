package views

import (
	"fmt"
	"strings"

	"vayu/schema/parameter"
)

// function is a ClickHouse SQL function.
type function struct{ name, lambda string }

// functions returns the SQL functions for analysts. All are plain arithmetic, and read no tables.
//
//   - grap_band(aqi) is the band of the Graded Response Action Plan for Delhi in which an AQI
//     lies: "I" from 201, "II" from 301, "III" from 401, "IV" from 451, and "none" below. The
//     source is the Commission for Air Quality Management, GRAP of 2024. The commission decides
//     which stage is in force, so the stage may differ from this band.
//   - india_season(day) is the season of the India Meteorological Department: "winter" (January
//     and February), "pre-monsoon" (to May), "monsoon" (to September) or "post-monsoon".
//   - parameter_unit(parameter) is the unit of a parameter; empty for an unknown one.
//   - naaqs_limit(parameter, period) and who_limit(parameter, period) are the limits in the view
//     "standard"; NULL if the view has no limit for the parameter and period.
func functions() []function {
	return []function{
		{"grap_band", "aqi -> multiIf(isNull(aqi), NULL, aqi > 450, 'IV', aqi > 400, 'III', aqi > 300, 'II', aqi > 200, 'I', 'none')"},
		{"india_season", "day -> multiIf(toMonth(day) <= 2, 'winter', toMonth(day) <= 5, 'pre-monsoon', toMonth(day) <= 9, 'monsoon', 'post-monsoon')"},
		{"parameter_unit", unitLambda()},
		{"naaqs_limit", limitLambda(NAAQS)},
		{"who_limit", limitLambda(WHO)},
	}
}

func unitLambda() string {
	var ids, units []string
	for p := range parameter.All() {
		ids, units = append(ids, "'"+p.ID()+"'"), append(units, "'"+p.Unit()+"'")
	}
	return "parameter -> transform(toString(parameter), [" + strings.Join(ids, ", ") + "], [" + strings.Join(units, ", ") + "], '')"
}

func limitLambda(standard string) string {
	var b strings.Builder
	b.WriteString("(parameter, period) -> multiIf(")
	for _, l := range &Limits {
		if l.Standard == standard {
			fmt.Fprintf(&b, "parameter = '%s' AND period = '%s', %g, ", l.Parameter.ID(), l.Period, l.Value)
		}
	}
	return b.String() + "NULL)"
}
