// Package dataset reads tables of air quality in a fixed order, and writes them as Parquet, Arrow, CSV or JSON lines.
// Equal rows always yield equal bytes. Exports (query/export) and archives (query/archive) are made of it.
package dataset

import (
	"slices"
	"strings"
)

// Table is a table or view that can be exported: one row per fact, without data of accounts.
type Table struct {
	// Name is the name in the database.
	Name string
	// Time is the column that from and to compare, and whose month a row belongs to. It is the end of an interval in
	// UTC, or a calendar date if Daily is true. "" means that the table has no time.
	Time  string
	Daily bool
	// Key lists the columns that identify a row, in the order in which the rows are read. It begins as the sorting key
	// of the table does, so that ClickHouse need not sort.
	Key []string
	// Version is the column that grows with each change of a row, a DateTime64(3). "" means that all columns decide whether a row has
	// changed, as in a view.
	Version string
	// Station is the column with the id of a station; "" for none. A row is only exported if its station is public.
	Station string
	// City means that the table has the columns city and state.
	City bool
	// Parameter is the column with the id of a parameter; "" for none.
	Parameter string
	// Forecast means that the place of a row is a city or a station, in the columns place_kind, place and state, and that its
	// day can be in the future.
	Forecast bool
	// Wide means that each pollutant has columns of its own, such as pm25 and pm25_index.
	Wide bool
	// Only is a condition on the key that every exported row meets; "" for none.
	Only string
	// Derived means that the rows follow from other tables, as those of a view do. An archive omits the table.
	Derived bool
}

// issued omits the forecasts of replays, which are experiments of the operator.
const issued = "run = ''"

// Tables are all tables and views that can be exported, by name. The view openair is missing: a month of it costs as much
// as all of it, because its time follows from the day and the hour.
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

// operations are the tables that only an archive has: decisions of the operator, and marks of the roll-up.
var operations = []Table{
	{Name: "colocation", Key: []string{"sensor", "reference", "hours_from", "hours_to"}, Version: "fitted_at", Station: "sensor"},
	{Name: "forecast_issue", Time: "base", Daily: true, Key: []string{"run", "base"}, Version: "recorded_at", Only: issued},
	{Name: "rollup", Time: "at", Key: []string{"at", "started", "hours_from", "hours_to", "stations"}},
	{Name: "station_alias", Key: []string{"alias"}, Version: "made_at", Station: "station"},
	{Name: "station_change", Key: []string{"at", "station", "field", "before", "after"}, Station: "station"},
	{Name: "withdrawal", Key: []string{"station", "id"}, Version: "made_at", Station: "station"},
}

// Archived returns the tables of an archive.
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

// month returns the SQL expression of the month of a row, such as 202611. The month of an hour is that of its end in UTC,
// as in the partitions of the tables. It is 0 for a table without time.
func (t *Table) month() string {
	if t.Time == "" {
		return "toUInt32(0)"
	}
	return "toYYYYMM(" + t.Time + ")"
}

// changes returns the SQL expression of a number per row. The sum of the numbers changes when a row changes, because a
// change makes a version grow, and together with the number of rows when a row comes or goes.
func (t *Table) changes(columns []Column) string {
	if t.Version != "" {
		return "toUInt64(toUnixTimestamp64Milli(" + t.Version + "))"
	}
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = quoteName(columns[i].Name)
	}
	return "cityHash64(tuple(" + strings.Join(names, ", ") + "))"
}
