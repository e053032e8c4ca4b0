package airquality

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"vayu/internal/columnstore/migration"
	"vayu/pipeline/airquality/quality"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
	"vayu/schema/statement"
)

//go:embed *.sql
var texts embed.FS

// step fills one table in a roll-up. Steps run in order, and a step reads only
// tables that earlier steps have filled.
type step struct {
	table    string
	insert   string
	stale    string   // FROM and WHERE clauses for the rows that the pass did not write again
	between  *step    // the same step for a range of station ids; nil for a step of cities
	key      []string // columns that identify the stale rows
	removes  bool     // the table's engine supports a column `removed`
	ofCities bool     // the table has rows of cities
	ofMeans  bool     // the table has plain means
}

// templateData is the data for the templates of the SQL statements. All numbers that belong to the index come from
// schema/naqi.
type templateData struct {
	Database      string
	Pollutants    []string
	Precedence    []string
	EightHour     []string
	Last          string
	MinHours      int
	MinHoursOf8   int
	MinPollutants int
	DominantEnum  string
	IndiaSeconds  int
	ToHourEnd     int // seconds to add before an integer division, to round up to the end of the Indian hour
	Lookback      int // an hour uses means of hours that are less than this many hours older
	Settings      string
	Flagged       string // subquery of suspect and failed readings
	Kinds         string // kinds of stations that count in the AQI of their city, as SQL literals
	Place         string // SQL that selects the stations that count in the AQI of the chunk's cities
}

// insertSettings are the ClickHouse settings of every INSERT. A pass over sparse
// years writes many partitions, one per month. On a cluster, the rows of a
// statement must be visible to the next statement. Subqueries must read all shards,
// because the stations of one city are on several shards.
const insertSettings = "SETTINGS max_partitions_per_insert_block = 0, distributed_foreground_insert = 1, distributed_product_mode = 'global', " +
	"parallel_distributed_insert_select = 0, optimize_move_to_prewhere_if_final = 1"

// IsEightHour reports whether the index uses the pollutant's 8-hour mean.
func (f templateData) IsEightHour(p string) bool {
	return p == air.O3.String() || p == air.CO.String()
}

// newSteps returns the steps of a roll-up for one database.
func newSteps(tables migration.Params, kinds []air.StationKind, tester *quality.Tester) ([]step, error) {
	f := templateData{
		Database: tables.Database, MinHours: naqi.MinHours, MinHoursOf8: naqi.MinHoursOf8, MinPollutants: naqi.MinPollutants,
		EightHour:    []string{air.CO.String(), air.O3.String()},
		IndiaSeconds: int(schema.IndiaOffset.Seconds()), ToHourEnd: int(schema.IndiaOffset.Seconds()) + 3599,
		Lookback: int(reach.Hours()) + 1, Settings: insertSettings,
		Flagged: tester.FlaggedReadings("station IN {stations:Array(String)} AND at > {from:DateTime('UTC')} - INTERVAL 1 HOUR AND at < {to:DateTime('UTC')} + INTERVAL 24 HOUR"),
	}
	enum := []string{`\'none\' = 0`}
	number := make(map[string]int)
	for i, p := range air.Pollutants {
		f.Pollutants = append(f.Pollutants, p.String())
		enum = append(enum, fmt.Sprintf(`\'%s\' = %d`, p, p))
		number[p.String()] = i
	}
	f.Last = f.Pollutants[len(f.Pollutants)-1]
	f.DominantEnum = "Enum8(" + strings.Join(enum, ", ") + ")"
	for _, p := range naqi.Precedence {
		f.Precedence = append(f.Precedence, p.String())
	}
	bit := func(i int) int { return 1 << i }
	functions := template.FuncMap{"bit": bit, "bitOf": func(p string) int { return bit(number[p]) }, "four": roundFour, "number": func(p string) int { return number[p] + 1 }}
	const stations = "station IN {stations:Array(String)} AND "
	const cities = "(city, state) IN (SELECT city, state FROM {{.Database}}.station FINAL WHERE id IN {stations:Array(String)} " +
		"UNION ALL SELECT pair.1, pair.2 FROM (SELECT arrayJoin({cities:Array(Tuple(String, String))}) AS pair)) AND "
	const hours = "at >= {from:DateTime('UTC')} AND at <= {to:DateTime('UTC')}"
	const ofReadings, ofHours = " AND at > {readings:DateTime('UTC')}", " AND at > {hours:DateTime('UTC')}"
	const days = "day >= toDate({from:DateTime('UTC')} + {{.IndiaSeconds}} - 1) AND day <= toDate({to:DateTime('UTC')} + {{.IndiaSeconds}} - 1)"
	steps := []step{
		{table: "station_parameter_hour", insert: "parameter_hour.sql", stale: stations + hours + ofReadings, key: []string{"station", "at", "parameter", "kind"}, removes: true, ofMeans: true},
		{table: "station_parameter_day", insert: "parameter_day.sql", stale: stations + days + " AND day > toDate({readings:DateTime('UTC')})", key: []string{"station", "parameter", "day"}, removes: true, ofMeans: true},
		{table: "station_hour", insert: "station_hour.sql", stale: stations + hours + ofReadings, key: []string{"station", "at"}},
		{table: "city_hour", insert: "city_hour.sql", stale: cities + hours + ofHours, key: []string{"city", "state", "at"}, ofCities: true},
		{table: "city_day", insert: "city_day.sql", stale: cities + days + " AND day > toDate({hours:DateTime('UTC')})", key: []string{"city", "state", "day"}, ofCities: true},
	}
	f.Kinds = kindLiterals(kinds)
	write := func(text string) (string, error) {
		t, err := template.New("roll-up").Funcs(functions).Parse(text)
		if err != nil {
			return "", fmt.Errorf("reading a roll-up statement: %w", err)
		}
		var b strings.Builder
		if err := t.Execute(&b, f); err != nil {
			return "", fmt.Errorf("writing a roll-up statement: %w", err)
		}
		return b.String(), nil
	}
	place, err := texts.ReadFile("place.sql")
	if err != nil {
		return nil, fmt.Errorf("reading a roll-up statement: %w", err)
	}
	if f.Place, err = write(string(place)); err != nil {
		return nil, err
	}
	for i := range steps {
		s := &steps[i]
		text, err := texts.ReadFile(s.insert)
		if err != nil {
			return nil, fmt.Errorf("reading a roll-up statement: %w", err)
		}
		if s.insert, err = write(string(text)); err != nil {
			return nil, err
		}
		if s.stale, err = write("FROM {{.Database}}." + s.table + " FINAL WHERE " + s.stale + " AND computed_at < {computed:DateTime64(3, 'UTC')}"); err != nil {
			return nil, err
		}
		if !s.ofCities {
			ranged := *s
			ranged.insert, ranged.stale = quality.Between(s.insert), quality.Between(s.stale)
			s.between = &ranged
		}
	}
	return steps, nil
}

// kindLiterals returns kinds of stations as a list of SQL literals.
func kindLiterals(kinds []air.StationKind) string {
	quoted := make([]string, len(kinds))
	for i, kind := range kinds {
		quoted[i] = statement.Quote(kind.String())
	}
	return strings.Join(quoted, ", ")
}

// roundFour returns an SQL expression that rounds the value of `expression` half up to four decimals. The SQL
// expression first rounds to millionths. Otherwise the rounding of a half would depend on the order in which ClickHouse
// adds the values of a mean.
func roundFour(expression string) string {
	return fmt.Sprintf("intDiv(toInt64(floor(%s * 1000000 + 0.5)) + 50, 100) / 10000", expression)
}
