package airquality

import (
	_ "embed" // the statements
	"fmt"
	"strings"
	"text/template"

	"vayu/schema"
	"vayu/schema/naqi"
)

//go:embed station_hour.sql
var stationHourSQL string

//go:embed city_hour.sql
var cityHourSQL string

//go:embed city_day.sql
var cityDaySQL string

//go:embed place.sql
var placeSQL string

// statements is the roll-up's SQL for one database.
type statements struct{ stationHour, cityHour, cityDay string }

// facts is what the statements are written with: everything that is a number
// of the index comes from schema/naqi.
type facts struct {
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
	ToHourEnd     int // what takes a time to the end of its Indian hour by integer division
	Lookback      int // hours before the first wanted one whose readings are part of its figures
	Settings      string
	Kinds         string // of stations that count for their city, quoted
	Place         string // which stations count for the wanted cities, as SQL
}

// insertSettings are those of every statement that writes. A pass over sparse
// years fills a partition for each month. On a cluster the rows of one
// statement must be there for the next, its subqueries see all shards, and no shard
// computes by itself: the stations of a city are on several.
const insertSettings = "SETTINGS max_partitions_per_insert_block = 0, distributed_foreground_insert = 1, distributed_product_mode = 'global', " +
	"parallel_distributed_insert_select = 0"

// IsEightHour reports whether the index takes the pollutant's 8-hour mean.
func (f facts) IsEightHour(p string) bool {
	return p == schema.O3.String() || p == schema.CO.String()
}

func newStatements(database string, kinds []schema.StationKind) (statements, error) {
	f := facts{
		Database: database, MinHours: naqi.MinHours, MinHoursOf8: naqi.MinHoursOf8, MinPollutants: naqi.MinPollutants,
		EightHour:    []string{schema.CO.String(), schema.O3.String()},
		IndiaSeconds: int(schema.IndiaOffset.Seconds()), ToHourEnd: int(schema.IndiaOffset.Seconds()) + 3599,
		Lookback: int(reach.Hours()) + 1, Settings: insertSettings,
	}
	enum := []string{`\'none\' = 0`}
	number := make(map[string]int)
	for i, p := range schema.Pollutants {
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
	functions := template.FuncMap{"bit": bit, "bitOf": func(p string) int { return bit(number[p]) }, "four": four, "number": func(p string) int { return number[p] + 1 }}
	quoted := make([]string, len(kinds))
	for i, kind := range kinds {
		quoted[i] = "'" + kind.String() + "'"
	}
	f.Kinds = strings.Join(quoted, ", ")
	var s statements
	for _, part := range []struct {
		text string
		into *string
	}{{placeSQL, &f.Place}, {stationHourSQL, &s.stationHour}, {cityHourSQL, &s.cityHour}, {cityDaySQL, &s.cityDay}} {
		t, err := template.New("roll-up").Funcs(functions).Parse(part.text)
		if err != nil {
			return s, fmt.Errorf("reading a roll-up statement: %w", err)
		}
		var b strings.Builder
		if err := t.Execute(&b, f); err != nil {
			return s, fmt.Errorf("writing a roll-up statement: %w", err)
		}
		*part.into = b.String()
	}
	return s, nil
}

// four rounds an expression half-up to four decimals. It goes by millionths,
// so that a mean that is a tie is one whatever order its parts were added in.
func four(expression string) string {
	return fmt.Sprintf("intDiv(toInt64(floor(%s * 1000000 + 0.5)) + 50, 100) / 10000", expression)
}
