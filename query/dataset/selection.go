package dataset

import (
	"fmt"
	"slices"
	"strings"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
)

// Selection selects rows of a table. The zero value of a field selects all rows, except for Table and Account.
type Selection struct {
	Table Table
	// From and To are the first and the last Indian day. An hour belongs to the day in which it ends. The hour that
	// ends at midnight belongs to the day before that midnight.
	From, To schema.Day
	// Station is the id of a station. City and State are canonical names. A city also needs its state.
	Station, City, State string
	// Parameters are ids of parameters such as pm25. In a wide table they select columns, not rows.
	Parameters []string
	// Account is the id of an account whose private stations are selected, too. If it is "", only public stations are.
	Account string
}

// condition is one condition of the WHERE clause of a query.
type condition struct {
	sql string
	// early means that the condition can be evaluated before FINAL, because it uses only key columns. These are equal
	// in all versions of a row.
	early bool
}

// conditions returns the conditions for the selected rows, and the values of their query parameters. `database` is
// the quoted name of the database.
func (s *Selection) conditions(database string) (all []condition, args []any) {
	t := &s.Table
	add := func(column, sql string, more ...any) {
		early := !t.Derived && slices.Contains(t.Key, column)
		all, args = append(all, condition{sql, early}), append(args, more...)
	}
	if t.Only != "" {
		add(t.Key[0], t.Only)
	}
	if s.From != 0 {
		add(t.Time, s.bound(">", ">=", "from"), aggregate.Param("from", s.limit(s.From)))
	}
	if s.To != 0 {
		add(t.Time, s.bound("<=", "<", "to"), aggregate.Param("to", s.limit(s.To+1)))
	}
	if len(s.Parameters) > 0 && t.Parameter != "" {
		add(t.Parameter, t.Parameter+" IN {parameters:Array(String)}", aggregate.Param("parameters", s.Parameters))
	}
	if s.Station != "" && t.Station != "" {
		add(t.Station, t.Station+" = {station:String}", aggregate.Param("station", s.Station))
	}
	if t.Forecast && s.Station != "" {
		add("place", "place_kind = 'station' AND place = {station:String}", aggregate.Param("station", s.Station))
	}
	if t.Forecast && s.City != "" {
		add("place", "place_kind = 'city' AND place = {city:String}", aggregate.Param("city", s.City))
	}
	if t.City && s.City != "" {
		add("city", "city = {city:String}", aggregate.Param("city", s.City))
	}
	if (t.City || t.Forecast) && s.State != "" {
		add("state", "state = {state:String}", aggregate.Param("state", s.State))
	}
	if t.Station != "" && t.Name != "station" {
		query, more := s.stations(database)
		add(t.Station, t.Station+" IN ("+query+")", more...)
	}
	return all, args
}

// clause combines conditions into a PREWHERE clause and a WHERE clause.
func clause(all []condition) string {
	var early, late []string
	for _, c := range all {
		if c.early {
			early = append(early, c.sql)
		} else {
			late = append(late, c.sql)
		}
	}
	text := ""
	if len(early) > 0 {
		text = " PREWHERE " + strings.Join(early, " AND ")
	}
	if len(late) > 0 {
		text += " WHERE " + strings.Join(late, " AND ")
	}
	return text
}

// bound returns a condition that compares the time column with the query parameter `name`. For a column with the ends
// of hours, the operator is `hours`. For a column of dates, it is `days`.
func (s *Selection) bound(hours, days, name string) string {
	if s.Table.Daily {
		return s.Table.Time + " " + days + " toDate({" + name + ":Int32})"
	}
	return s.Table.Time + " " + hours + " fromUnixTimestamp({" + name + ":Int64})"
}

// limit returns the value of the query parameter that [Selection.bound] compares with: the number of the day, or the
// Unix time at which the day begins.
func (s *Selection) limit(day schema.Day) string {
	if s.Table.Daily {
		return fmt.Sprint(int32(day))
	}
	return fmt.Sprint(day.Start().Unix())
}

// stations returns a query for the ids of the selected stations: public stations, and the account's own stations.
func (s *Selection) stations(database string) (query string, args []any) {
	place := ""
	if !s.Table.City && s.City != "" {
		place, args = " AND city = {city:String}", append(args, aggregate.Param("city", s.City))
	}
	if !s.Table.City && s.State != "" {
		place, args = place+" AND state = {state:String}", append(args, aggregate.Param("state", s.State))
	}
	query = "SELECT id FROM " + database + ".station FINAL WHERE 1" + place
	if s.Account != "" {
		query += " UNION ALL SELECT id FROM " + database + ".pushed_station FINAL WHERE account = {account:String}" + place
		args = append(args, aggregate.Param("account", s.Account))
	}
	return query, args
}

// columns returns the columns without those of unselected pollutants. Only a wide table has columns of pollutants.
func (s *Selection) columns(all []Column) []Column {
	if !s.Table.Wide || len(s.Parameters) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Column) bool {
		p, ok := air.ParsePollutant(strings.TrimSuffix(c.Name, "_index"))
		return ok && !slices.Contains(s.Parameters, p.String())
	})
}
