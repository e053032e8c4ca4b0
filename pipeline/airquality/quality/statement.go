package quality

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"time"

	"vayu/schema"
	"vayu/schema/statement"
)

//go:embed *.sql
var files embed.FS

// testSQL is an INSERT statement of tests. Its query parameters are `from`, `to` and `stations`. The statement `colocation`
// has no `stations`.
type testSQL struct {
	name, text string
	// short is a faster SQL text for time spans of up to shortSpan, with the same result. It is ""
	// if there is none.
	short string
}

// shortSpan is the longest time span for which the variant `short` is used. That variant adds each reading to the sums
// of all hours to which the reading belongs. For longer spans, the window functions of the normal text are faster.
const shortSpan = 2 * time.Hour

// statements are the SQL statements of a Tester for one database. Their order matters. The test `same_hour` reads the
// results of the tests `spike` and `rate_of_change`. The test `nox_sum` reads the table `nox_form`, which the statement
// "nox" fills.
type statements struct {
	values, series         []testSQL
	correction, colocation testSQL
}

// These constants are for the correction of low-cost sensors, and for the fits of sensors to reference stations.
const (
	// formula is the name of EPA's correction formula of 2021. formulaVersion must
	// be increased with each change of correction.sql.
	formula        = "epa_2021"
	formulaVersion = 1
	// The two channels of a sensor disagree if their difference exceeds both 5 µg/m³ and 61 % of their mean (Barkjohn
	// et al. 2021).
	channelMicrograms = 5
	channelShare      = 0.61
	// besideMetres is the maximum distance between a sensor and the reference
	// station to which it is fitted.
	besideMetres = 1000
	// fitHours is the minimum number of hours for a fit. It is three days, so that
	// a fit includes nights and days of different humidity.
	fitHours = 72
)

// cellDegrees is the side of the squares that divide the map for the search of neighbours. 10 km are 0.09° of latitude
// and, at 38° N, 0.12° of longitude. Stations within 10 km are therefore in the same square or in adjacent squares.
// maxPerCell is the maximum number of reference stations per square that can be neighbours.
const (
	cellDegrees = 0.12
	maxPerCell  = 64
)

// These are time spans, in seconds, for tests of runs. A run is a series of equal consecutive values. backSeconds is
// the minimum length of a flat line; spikes and gaps are shorter. So a changed reading changes no result that is more
// than backSeconds before or after the reading. The tests of a time span therefore replace the results up to
// backSeconds around it. To find all runs of these readings, the tests read up to contextSeconds around the time span.
const (
	backSeconds    = flatMinutes * 60
	contextSeconds = backSeconds + 7*3600
)

// insertSettings are the ClickHouse settings of every INSERT, as in package airquality. They permit many partitions,
// because a long time span has many. On a cluster, they make the rows visible to the next statement, and make
// subqueries read all shards.
const insertSettings = "SETTINGS max_partitions_per_insert_block = 0, distributed_foreground_insert = 1, distributed_product_mode = 'global', " +
	"parallel_distributed_insert_select = 0, optimize_move_to_prewhere_if_final = 1"

type limitSQL struct{ Name, Least, Full, Floor, Most string }

// templateData is the data for the templates of the SQL statements.
type templateData struct {
	Database string
	// These fields are fragments of SQL. TestNames and Versions list the tests of a statement. Applies is the condition
	// that a test is switched on for the source of a reading. Among and Span select the stations and times whose
	// results the statement replaces. Forward is an SQL interval by which the statement reads further ahead; "" for
	// none.
	TestNames, Versions, Applies, Among, Span, Forward string
	Short                                              bool

	Limits                          []limitSQL
	LimitNames, Spikes, Jumps       string
	NearNames, NearFloors           string
	HourOf, FirstHour, LastHour     string
	HourOfLast                      string
	FirstDayStart, LastDayEnd       string
	FirstDay                        string
	AheadMinutes, GapSeconds        int
	SpikeSeconds, FlatSeconds       int
	NextSeconds                     int
	BackSeconds, ContextSeconds     int
	Variation, Cell                 float64
	VariationHours, IndiaSeconds    int
	RepeatDays, RepeatBefore        int
	MinRepeats                      int
	NearMetres, SameMetres          int
	NearLeast, NearFactor, CellMost int
	NO, NO2, NOCold, NO2Cold        string
	NOxLeast, NOxDays, NOxTimes     int
	NOxForm, NOxOff, NOxShare       float64
	Formula                         string
	FormulaVersion, FitHours        int
	ChannelMicrograms, BesideMetres int
	ChannelShare                    float64
	SensorsByHand, PairsByHand      string
	Settings                        string
}

// hourOf returns an SQL expression for [schema.HourEnd]. `at` is SQL for the end of an averaging interval.
func hourOf(at string) string {
	india := int(schema.IndiaOffset.Seconds())
	return fmt.Sprintf("toDateTime(intDiv(toUInt32(%s) + %d, 3600) * 3600 - %d, 'UTC')", at, india+3599, india)
}

// dayStart returns an SQL expression for the start of the Indian day of an averaging interval ([schema.DayOf]), plus a
// number of days. `at` is SQL for the end of the interval.
func dayStart(at string, days int) string {
	india := int(schema.IndiaOffset.Seconds())
	return fmt.Sprintf("toDateTime((intDiv(toUInt32(%s) + %d, 86400) + %d) * 86400 - %d, 'UTC')", at, india-1, days, india)
}

const (
	fromSQL = "{from:DateTime('UTC')}"
	toSQL   = "{to:DateTime('UTC')}"
)

func newTemplateData(database string, settings Settings) templateData {
	f := templateData{
		Database: database, HourOf: hourOf("at"), HourOfLast: hourOf("max(at)"), FirstHour: hourOf(fromSQL), LastHour: hourOf(toSQL),
		FirstDayStart: dayStart(fromSQL, 0), LastDayEnd: dayStart(toSQL, 1), FirstDay: firstDay,
		AheadMinutes: aheadMinutes, GapSeconds: gapMinutes * 60, SpikeSeconds: spikeMinutes * 60, FlatSeconds: flatMinutes * 60, NextSeconds: nextMinutes * 60,
		BackSeconds: backSeconds, ContextSeconds: contextSeconds, Variation: minVariation, Cell: cellDegrees, VariationHours: minVariationHours,
		IndiaSeconds: int(schema.IndiaOffset.Seconds()), RepeatDays: repeatDays, RepeatBefore: repeatDays - 1, MinRepeats: minRepeats,
		NearMetres: nearMetres, SameMetres: sameMetres, NearFactor: nearFactor,
		NearLeast: minNeighbours, CellMost: maxPerCell,
		NO: number(noPerPPB), NO2: number(no2PerPPB), NOCold: number(noPerPPBCold), NO2Cold: number(no2PerPPBCold),
		NOxLeast: noxLeast, NOxDays: noxDays, NOxTimes: noxTimes, NOxForm: noxForm, NOxOff: noxOff, NOxShare: noxShare,
		Formula: formula, FormulaVersion: formulaVersion, ChannelMicrograms: channelMicrograms, ChannelShare: channelShare,
		BesideMetres: besideMetres, FitHours: fitHours, Settings: insertSettings,
	}
	var names, spikes, jumps, near, floors, sensors, pairs []string
	for i := range limits {
		l := &limits[i]
		f.Limits = append(f.Limits, limitSQL{statement.Quote(l.parameter), number(l.least), number(l.full), number(l.floor), number(l.most)})
		names, spikes, jumps = append(names, statement.Quote(l.parameter)), append(spikes, number(l.spike)), append(jumps, number(l.jump))
	}
	for _, name := range slices.Sorted(maps.Keys(nearFloor)) {
		near, floors = append(near, statement.Quote(name)), append(floors, number(nearFloor[name]))
	}
	sensors = append(sensors, statement.Quote("")) // IN needs an element
	for _, sensor := range slices.Sorted(maps.Keys(settings.Colocated)) {
		sensors = append(sensors, statement.Quote(sensor))
		pairs = append(pairs, "("+statement.Quote(sensor)+", "+statement.Quote(settings.Colocated[sensor])+")")
	}
	f.LimitNames, f.Spikes, f.Jumps = strings.Join(names, ", "), strings.Join(spikes, ", "), strings.Join(jumps, ", ")
	f.NearNames, f.NearFloors = strings.Join(near, ", "), strings.Join(floors, ", ")
	f.SensorsByHand, f.PairsByHand = strings.Join(sensors, ", "), strings.Join(pairs, ", ")
	return f
}

// The method `of` returns a copy of the template data for a statement that runs the given tests. `among` is the SQL
// condition on the stations, and `span` is the SQL condition on the time.
func (f templateData) of(settings Settings, tests []string, among, span string) templateData {
	var names, versions, off []string
	for _, name := range tests {
		t, _ := TestNamed(name)
		names, versions = append(names, statement.Quote(name)), append(versions, fmt.Sprint(t.Version))
	}
	for _, source := range slices.Sorted(maps.Keys(settings.Off)) {
		for _, name := range settings.Off[source] {
			off = append(off, "("+statement.Quote(source)+", "+statement.Quote(name)+")")
		}
	}
	f.TestNames, f.Versions, f.Applies = strings.Join(names, ", "), strings.Join(versions, ", "), "1"
	if len(off) > 0 {
		f.Applies = "(toString(source), toString(test)) NOT IN (" + strings.Join(off, ", ") + ")"
	}
	f.Among, f.Span = among, span
	return f
}

func newStatements(database string, settings Settings) (statements, error) {
	all, err := template.ParseFS(files, "*.sql")
	if err != nil {
		return statements{}, fmt.Errorf("reading the quality statements: %w", err)
	}
	var s statements
	base := newTemplateData(database, settings)
	write := func(name string, f templateData) testSQL {
		var b strings.Builder
		if failed := all.ExecuteTemplate(&b, name+".sql", f); failed != nil && err == nil {
			err = fmt.Errorf("writing the quality statement %q: %w", name, failed)
		}
		return testSQL{name: name, text: b.String()}
	}
	const named = "{stations:Array(String)}"
	exact := "at >= " + fromSQL + " AND at <= " + toSQL
	around := fmt.Sprintf("at >= %s - INTERVAL %d SECOND AND at <= %s + INTERVAL %d SECOND", fromSQL, backSeconds, toSQL, backSeconds)
	hours := "at > " + base.FirstHour + " - INTERVAL 1 HOUR AND at <= " + base.LastHour
	forward := fmt.Sprintf(" + INTERVAL %d DAY", noxDays)
	sums := base.of(settings, []string{NOxSum}, named, "at > "+base.FirstDayStart+" AND at <= "+base.LastDayEnd+forward)
	sums.Forward = forward
	constants := base.of(settings, []string{NearConstant}, named, hours+" + INTERVAL 23 HOUR")
	constant := write("constant", constants)
	constants.Short = true
	constant.short = write("constant", constants).text
	s.values = []testSQL{
		write("range", base.of(settings, []string{GrossRange, ImpossibleDate, SourceFlag}, named, exact)),
		write("pair", base.of(settings, []string{PM25AbovePM10}, named, exact)),
	}
	s.series = []testSQL{
		write("run", base.of(settings, []string{Spike, RateOfChange, FlatLine, TimeGap}, named, around)),
		constant,
		write("repeat", base.of(settings, []string{SameHour}, named, fmt.Sprintf("%s + INTERVAL %d DAY", around, repeatDays))),
		write("neighbour", base.of(settings, []string{Neighbours}, "(SELECT subject FROM subjects UNION ALL SELECT arrayJoin("+named+"))", hours)),
		write("nox", base),
		write("nox_sum", sums),
	}
	s.correction, s.colocation = write("correction", base), write("colocation", base)
	return s, err
}
