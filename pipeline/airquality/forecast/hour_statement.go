package forecast

import (
	"fmt"
	"strings"
)

// These constants define how hourly forecasts are computed. A base is the last hour whose data a forecast uses. A fit
// computes coefficients from past bases. An issue stores the forecasts that follow from one base.
const (
	// hourHorizons is the number of hours after a base that are forecast. The forecasts of the next base come six to
	// ten hours after this base. Until then, these forecasts still reach at least 48 hours into the future.
	hourHorizons = 60
	// fitWeeks is the number of weeks from which a fit takes its bases. usualHourDays is the number of days over which
	// the usual value of an hour of the day is computed.
	fitWeeks, usualHourDays = 4, 14
	minHours                = 12  // least number of hours with data among the last 24, for a forecast
	minHourErrors           = 100 // least number of residuals, for the errors of a place at six successive horizons
	// fitHours and issueHours are how many hours of data a fit and an issue read. Before its first base, a fit needs
	// two weeks for the usual value, and two more days for anomalies. In an issue, persistence repeats values that are
	// up to three days old.
	fitHours, issueHours = (fitWeeks*7 + usualHourDays + 2) * 24, (usualHourDays + 4) * 24
)

// hourStatements are the SQL statements of the forecasts of hours.
type hourStatements struct {
	fitInput, input, coefficient, residual, score, issue, ready string
}

func newHourStatements(d templateData) (s hourStatements, err error) {
	d.HourHorizons, d.MinHours, d.MinHourErrors = hourHorizons, minHours, minHourErrors
	// The interval from the k-th smallest to the k-th largest of n errors covers the share 1 - 2k/(n+1) of new errors
	// on average. The quantile levels below are for a share of 80 % and n = days (see hour_residual.sql).
	const days = fitWeeks * 7
	level := 0.1*(days+1)/days - 1./days
	d.HourDays, d.HourLevels = days, fmt.Sprintf("%.4f, 0.5, %.4f", level, 1-level)
	d.HourSettings = "SETTINGS distributed_foreground_insert = 1, distributed_product_mode = 'global', parallel_distributed_insert_select = 0, join_use_nulls = 0"
	fit, issue := d, d
	fit.HourGrid, issue.HourGrid = fitHours+hourHorizons, issueHours+hourHorizons
	// A fit uses every seventh hour as a base. That covers all hours of the day, because 7 does not divide 24.
	fit.HourBases = fmt.Sprintf("position %% 7 = %d AND position BETWEEN %d AND %d", fitHours%7, fitHours-fitWeeks*7*24, fitHours)
	issue.HourBases = fmt.Sprintf("position = %d", issueHours)
	for _, piece := range [...]struct {
		name string
		to   *templateData
		text *string
	}{
		{"hours.sql", &fit, &fit.Hours}, {"hours.sql", &issue, &issue.Hours},
		{"hour_samples.sql", &fit, &fit.HourSamples}, {"hour_samples.sql", &issue, &issue.HourSamples},
		{"hour_input.sql", &fit, &s.fitInput}, {"hour_input.sql", &issue, &s.input}, {"hour_coefficient.sql", &fit, &s.coefficient},
		{"hour_residual.sql", &fit, &s.residual}, {"hour_score.sql", &fit, &s.score}, {"hour_issue.sql", &issue, &s.issue}, {"hour_ready.sql", &issue, &s.ready},
	} {
		text, err := piece.to.write(piece.name)
		if err != nil {
			return s, err
		}
		*piece.text = strings.TrimSuffix(text, "\n")
	}
	return s, nil
}
