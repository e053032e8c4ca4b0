// Package dataset reads tables of air quality data in a fixed order, and writes them as Parquet, Arrow, CSV or JSON
// lines. Equal rows always result in equal bytes. Packages query/export and query/archive use it.
package dataset

import (
	"slices"
	"strings"

	"vayu/schema/statement"
)

// Table is a table or view that can be exported. None of its columns identifies an account.
type Table struct {
	// Name is the name in the database.
	Name string
	// Time is the column to which the parameters "from" and "to" apply. It also determines the month of a row. It has
	// the end of an interval in UTC, or a calendar date if Daily is true. "" means that rows have no time.
	Time  string
	Daily bool
	// Key lists the columns that identify a row, in the sort order of the exported rows. It begins with the sorting
	// key of the table in ClickHouse, so that ClickHouse need not sort.
	Key []string
	// Version is a DateTime64(3) column that changes with each change of a row. If Version is "", as for a view, all
	// columns are compared to detect a change.
	Version string
	// Station is the column with the id of a station; "" for none. Only rows of public stations are exported.
	Station string
	// City means that the table has the columns city and state.
	City bool
	// Parameter is the column with the id of a parameter; "" for none.
	Parameter string
	// Forecast means that a row is about a city or a station (place_kind, place, state) and may be about the future.
	Forecast bool
	// Wide means that each pollutant has its own columns, such as pm25 and pm25_index.
	Wide bool
	// Only is a condition on the key that every exported row meets; "" for none.
	Only string
	// Derived means that the rows are computed from other tables, as in a view. Derived tables are not archived.
	Derived bool
}

// issued is the condition that omits the forecasts of replays, which are experiments of the operator.
const issued = "run = ''"

// Tables lists all tables and views that can be exported, by name. The view openair is not among them. Reading a month
// of it takes as long as reading all months, because its time is computed from a day and an hour.
var Tables = []Table{
	{Name: "annual_statistics", Key: []string{"station", "parameter", "year"}, Station: "station", City: true, Parameter: "parameter", Derived: true},
	{Name: "bulletin", Time: "day", Daily: true, Key: []string{"name", "day"}, Version: "ingested_at", City: true},
	{Name: "city_day", Time: "day", Daily: true, Key: []string{"city", "state", "day"}, Version: "computed_at", City: true, Wide: true},
	{Name: "city_hour", Time: "at", Key: []string{"city", "state", "at"}, Version: "computed_at", City: true, Wide: true},
	{Name: "corrected", Time: "at", Key: []string{"station", "at", "averaging", "formula"}, Version: "computed_at", Station: "station"},
	{Name: "daily", Time: "day", Daily: true, Key: []string{"station", "parameter", "day"}, Station: "station", City: true, Parameter: "parameter", Derived: true},
	{Name: "data_capture", Time: "month", Daily: true, Key: []string{"station", "parameter", "month"}, Station: "station", City: true, Parameter: "parameter", Derived: true},
	{Name: "diurnal", Key: []string{"station", "parameter", "year", "hour"}, Station: "station", City: true, Parameter: "parameter", Derived: true},
	{Name: "exceedance", Key: []string{"station", "parameter", "year", "standard", "period"}, Station: "station", City: true, Parameter: "parameter", Derived: true},
	{Name: "forecast", Time: "day", Daily: true, Key: []string{"run", "place_kind", "place", "state", "parameter", "day", "horizon", "model"}, Version: "issued_at", Parameter: "parameter", Forecast: true, Only: issued},
	{Name: "forecast_hour", Time: "base", Key: []string{"run", "place_kind", "place", "state", "parameter", "base", "horizon", "model"}, Version: "issued_at", Parameter: "parameter", Forecast: true, Only: issued},
	{Name: "monthly_statistics", Time: "month", Daily: true, Key: []string{"station", "parameter", "month"}, Station: "station", City: true, Parameter: "parameter", Derived: true},
	{Name: "nox_form", Time: "day", Daily: true, Key: []string{"station", "day"}, Version: "computed_at", Station: "station"},
	{Name: "parameter", Key: []string{"id"}, Parameter: "id"},
	{Name: "ranking", Key: []string{"year", "parameter", "rank", "city", "state"}, City: true, Parameter: "parameter", Derived: true},
	{Name: "reading", Time: "at", Key: []string{"station", "parameter", "at", "kind", "averaging"}, Version: "ingested_at", Station: "station", Parameter: "parameter"},
	{Name: "reading_quality", Time: "at", Key: []string{"station", "parameter", "at", "kind", "averaging", "test"}, Version: "computed_at", Station: "station", Parameter: "parameter"},
	{Name: "season", Key: []string{"station", "parameter", "year", "season"}, Station: "station", City: true, Parameter: "parameter", Derived: true},
	{Name: "standard", Key: []string{"standard", "parameter", "period"}, Parameter: "parameter", Derived: true},
	{Name: "station", Key: []string{"id"}, Station: "id", City: true},
	{Name: "station_hour", Time: "at", Key: []string{"station", "at"}, Version: "computed_at", Station: "station", Wide: true},
	{Name: "station_parameter_day", Time: "day", Daily: true, Key: []string{"station", "parameter", "day"}, Version: "computed_at", Station: "station", Parameter: "parameter"},
	{Name: "station_parameter_hour", Time: "at", Key: []string{"station", "at", "parameter", "kind"}, Version: "computed_at", Station: "station", Parameter: "parameter"},
	{Name: "trend", Key: []string{"station", "parameter"}, Station: "station", City: true, Parameter: "parameter", Derived: true},
	{Name: "weekday", Key: []string{"station", "parameter", "year", "weekday"}, Station: "station", City: true, Parameter: "parameter", Derived: true},
}

// operations are tables that are archived but not exported: decisions of the operator, logs of roll-ups and forecasts.
var operations = []Table{
	{Name: "colocation", Key: []string{"sensor", "reference", "hours_from", "hours_to"}, Version: "fitted_at", Station: "sensor"},
	{Name: "forecast_issue", Time: "base", Daily: true, Key: []string{"run", "base"}, Version: "recorded_at", Only: issued},
	{Name: "forecast_hour_issue", Time: "base", Key: []string{"run", "base"}, Version: "issued_at", Only: issued},
	{Name: "rollup", Time: "at", Key: []string{"at", "started", "hours_from", "hours_to", "stations"}},
	{Name: "station_alias", Key: []string{"alias"}, Version: "made_at", Station: "station"},
	{Name: "station_change", Key: []string{"at", "station", "field", "before", "after"}, Station: "station"},
	{Name: "withdrawal", Key: []string{"station", "id"}, Version: "made_at", Station: "station"},
}

// Archived returns the tables that an archive contains.
func Archived() []Table {
	all := slices.DeleteFunc(slices.Clone(Tables), func(t Table) bool { return t.Derived })
	return append(all, operations...)
}

// Find returns the table with a name.
func Find(name string) (Table, bool) {
	if i := slices.IndexFunc(Tables, func(t Table) bool { return t.Name == name }); i >= 0 {
		return Tables[i], true
	}
	return Table{}, false
}

// Names returns the names of all tables that can be exported.
func Names() []string {
	names := make([]string, len(Tables))
	for i, t := range Tables {
		names[i] = t.Name
	}
	return names
}

// month returns the SQL expression for the month of a row, such as 202611; 0 for a table without time. The month of
// an hour is the month of its end in UTC, as in the partitions of the tables.
func (t *Table) month() string {
	if t.Time == "" {
		return "toUInt32(0)"
	}
	return "toYYYYMM(" + t.Time + ")"
}

// changes returns an SQL expression with a number for each row. The sum of these numbers changes if a row changes. To
// detect added and removed rows, the caller also compares the number of rows.
func (t *Table) changes(columns []Column) string {
	if t.Version != "" {
		return "toUInt64(toUnixTimestamp64Milli(" + t.Version + "))"
	}
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = statement.QuoteName(columns[i].Name)
	}
	return "cityHash64(tuple(" + strings.Join(names, ", ") + "))"
}
