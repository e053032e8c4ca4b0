package forecast

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

//go:embed *.sql
var texts embed.FS

// These constants define how daily forecasts are computed.
const (
	// horizons is the number of days after the base that are forecast. The base is yesterday or, until the first issue
	// after midnight, the day before yesterday. So there are always forecasts for the three days after today.
	horizons = 5
	// members is the number of equally probable values of a forecast. It gives probabilities in steps of 2 %.
	members = 50
	// The climatology of a day uses the values of all years up to climateReach days before and after that day of the
	// year. minClimate is the least number of these values.
	climateReach, minClimate = 15, 10
	// minHistory is the least number of days of a climatology. It excludes places with only one winter. In the archive
	// for the evaluation of the model, nine cities have at least 536 days. The tenth has 394 days, with one winter.
	minHistory = 500
	minWeek    = 4  // least number of days with data for the mean anomaly of seven days
	minSeen    = 7  // least number of days with data, for a forecast (in recentDays) and for the usual value of an hour
	minErrors  = 20 // least number of errors for recalibrating an interval or comparing models
	// minResiduals is the least number of residuals of a season. For a series shorter than longHistory, there is also
	// season 0, which has the residuals of all seasons.
	minResiduals = 30
	// longHistory is the number of days after which a series has enough residuals in each season.
	longHistory = 2 * 365
	// largest is the value with which instruments report that they measured nothing. Values from `largest` on count as
	// missing. No daily mean in CPCB's archives reaches it.
	largest = 999
	// The errors of the last `recalibrated` days before an issue recalibrate the intervals. The errors of the last
	// `judged` days decide which model is served.
	recalibrated, judged = 60, 90
	// residualDays is the number of days from which weights and residuals are computed: five years, which have 450 days
	// of each season. A climatology uses all days of the last fitYears years.
	residualDays = 5 * 365
	// recentDays is the number of days that an issue reads: the last `judged` days, the `horizons` days before them,
	// and 6 more days for the first weekly mean.
	recentDays = judged + horizons + 6
)

// templateData is the data for the templates of the SQL statements.
type templateData struct {
	Database, Settings, Names, Season, Levels, Days, Samples, Shared string
	Hours, HourSamples, HourBases, HourLevels, HourSettings          string
	Parameters, Residuals                                            []string
	Horizons                                                         []int
	Ingested                                                         bool

	IndiaSeconds, Length, Farthest, Members, Largest, MinPollutants                                                                  int
	Half, HourDays, HourGrid, HourHorizons, MinHours, MinHourErrors                                                                  int
	ClimateReach, ClimateWidth, MinClimate, MinHistory, MinWeek, MinSeen, MinErrors, MinResiduals, LongHistory, Recalibrated, Judged int
}

// insertSettings are the ClickHouse settings of every INSERT. On a cluster, the rows of a statement must be visible to
// the next one. Blocks are small, because one row has the values of a place over ten years, as arrays.
const insertSettings = "SETTINGS max_partitions_per_insert_block = 0, distributed_foreground_insert = 1, distributed_product_mode = 'global', " +
	"parallel_distributed_insert_select = 0, max_block_size = 1024, join_use_nulls = 0"

// statements are the SQL statements of a Forecaster. `fit` returns those of a fit with residuals of `days` days.
type statements struct {
	input, ingestedInput, ready, late, issue, reason string
	fit                                              func(days int) ([4]string, error)
	data                                             templateData
	hours                                            hourStatements
}

func newStatements(database string) (statements, error) {
	d := templateData{
		Database: database, Settings: insertSettings, IndiaSeconds: int(schema.IndiaOffset.Seconds()), Farthest: horizons, Members: members, Half: members / 2, Largest: largest,
		MinPollutants: naqi.MinPollutants, ClimateReach: climateReach, ClimateWidth: 2*climateReach + 1, MinClimate: minClimate, MinHistory: minHistory,
		MinWeek: minWeek, MinSeen: minSeen, MinErrors: minErrors, MinResiduals: minResiduals, LongHistory: longHistory, Recalibrated: recalibrated, Judged: judged,
		// A season has three months, as in the published evaluation of the model: winter is December to February.
		Season: "toUInt8(1 + intDiv(toMonth(day) % 12, 3))", Residuals: []string{"damped", "persistent", "climatic"},
	}
	for _, p := range air.RecordPollutants {
		d.Parameters = append(d.Parameters, p.String())
	}
	d.Names = "['" + strings.Join(d.Parameters, "', '") + "']"
	for h := range horizons {
		d.Horizons = append(d.Horizons, h+1)
	}
	// Shared selects the places from which the constants of the model are computed: cities and reference stations.
	// It excludes sensors, because one account can publish many of them.
	d.Shared = "(place_kind = 'city' OR place IN (SELECT id FROM " + database + ".station FINAL WHERE kind = 'reference'))"
	levels := make([]string, members)
	for i := range members {
		levels[i] = fmt.Sprintf("%.2f", (float64(i)+0.5)/members)
	}
	d.Levels = strings.Join(levels, ", ")

	s := statements{data: d}
	var err error
	if s.hours, err = newHourStatements(d); err != nil {
		return s, err
	}
	write := func(name string, d templateData) string {
		text, failed := d.write(name)
		if err == nil {
			err = failed
		}
		return text
	}
	d.Days = strings.TrimSuffix(write("day.sql", d), "\n")
	s.input, s.ready, s.late = write("input.sql", d), write("ready.sql", d), write("late.sql", d)
	ingested := d
	ingested.Ingested = true
	s.ingestedInput = write("input.sql", ingested)
	recent := d
	recent.Length = recentDays
	recent.Samples = write("samples.sql", recent)
	s.issue, s.reason = write("issue.sql", recent), write("reason.sql", recent)
	s.fit = func(days int) (all [4]string, err error) {
		fit := d
		fit.Length = days
		if fit.Samples, err = fit.write("samples.sql"); err != nil {
			return all, err
		}
		for i, name := range [...]string{"climate.sql", "coefficient.sql", "residual.sql", "pooled.sql"} {
			if all[i], err = fit.write(name); err != nil {
				return all, err
			}
		}
		return all, nil
	}
	return s, err
}

// write returns the SQL text that the template in a file yields.
func (d templateData) write(name string) (string, error) {
	text, err := texts.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("reading a forecast statement: %w", err)
	}
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return "", fmt.Errorf("reading a forecast statement: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, d); err != nil {
		return "", fmt.Errorf("writing a forecast statement: %w", err)
	}
	return b.String(), nil
}
