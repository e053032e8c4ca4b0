package forecast

import (
	"context"
	"fmt"
	"math"
	"time"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/schema"
	"vayu/schema/air"
)

// load reads the latest issue. If `earlier` is still the latest, load returns it. It returns nil if there is no issue.
func load(ctx context.Context, t aggregate.Tables, earlier *Issue) (*Issue, error) {
	var base int32
	var issued, fitted int64
	err := t.Each(ctx, []any{&base, &issued, &fitted}, func() {},
		t.SQL("SELECT toInt32(base), toUnixTimestamp64Milli(issued_at), toUnixTimestamp64Milli(fitted_at) FROM %s.forecast_issue FINAL WHERE run = '' ORDER BY base DESC LIMIT 1"))
	if err != nil {
		return nil, fmt.Errorf("reading the latest issue of forecasts: %w", err)
	}
	switch {
	case issued == 0:
		return nil, nil
	case earlier != nil && earlier.IssuedAt.UnixMilli() == issued:
		return earlier, nil
	}
	i := newIssue(schema.Day(base), time.UnixMilli(issued).UTC(), time.UnixMilli(fitted).UTC())
	if err := i.loadDays(ctx, t, issued); err != nil {
		return nil, fmt.Errorf("reading forecasts: %w", err)
	}
	if err := i.loadScores(ctx, t); err != nil {
		return nil, fmt.Errorf("reading the score of forecasts: %w", err)
	}
	for _, perCity := range [...]bool{false, true} {
		if err := i.loadModels(ctx, t, perCity); err != nil {
			return nil, fmt.Errorf("reading the score of forecasts: %w", err)
		}
		if err := i.loadWarnings(ctx, t, perCity); err != nil {
			return nil, fmt.Errorf("reading the warnings of forecasts: %w", err)
		}
		if err := i.loadReliability(ctx, t, perCity); err != nil {
			return nil, fmt.Errorf("reading the reliability of forecasts: %w", err)
		}
	}
	return i, nil
}

func newIssue(base schema.Day, issued, fitted time.Time) *Issue {
	return &Issue{Base: base, IssuedAt: issued, FittedAt: fitted, cities: map[places.City]*Place{}, stations: map[string]*Place{}}
}

func (i *Issue) place(kind, name, state string) *Place {
	if kind == "station" {
		if i.stations[name] == nil {
			i.stations[name] = &Place{issue: i}
		}
		return i.stations[name]
	}
	key := places.City{Name: name, State: state}
	if i.cities[key] == nil {
		i.cities[key] = &Place{issue: i}
	}
	return i.cities[key]
}

// loadDays reads the forecasts to serve, and the reasons why the missing forecasts were not issued. Each place has its
// own issuedAt: if its data came late, its forecasts were issued later than others with the same base.
func (i *Issue) loadDays(ctx context.Context, t aggregate.Tables, issued int64) error {
	var kind, name, state, parameter, model, reason string
	var horizon uint8
	var p10, p50, p90 float32
	var chances []float32
	var at int64
	return t.Each(ctx, []any{&kind, &name, &state, &parameter, &horizon, &model, &p10, &p50, &p90, &chances, &reason, &at}, func() {
		p := i.place(kind, name, state)
		if horizon == 0 {
			if p.reason == "" {
				p.reason = reason
			}
			return
		}
		p.issuedAt = time.UnixMilli(max(at, p.issuedAt.UnixMilli())).UTC()
		for len(p.days) < int(horizon) {
			p.reasons = append(p.reasons, map[string]string{})
			p.days = append(p.days, air.ForecastDay{Date: (i.Base + schema.Day(len(p.days)+1)).String(), Horizon: len(p.days) + 1})
		}
		p.reasons[horizon-1][parameter] = reason
		set(&p.days[horizon-1], parameter, &air.Percentiles{P10: round(float64(p10)), P50: round(float64(p50)), P90: round(float64(p90)), Model: model}, chances)
	}, t.SQL(`SELECT toString(place_kind), toString(place), toString(state), toString(parameter), horizon, toString(model), p10, p50, p90, [good, satisfactory, moderate, poor, very_poor, severe], toString(reason), toUnixTimestamp64Milli(issued_at)
		FROM %s.forecast FINAL WHERE run = '' AND served AND day >= toDate({base:Int32}) AND day - horizon = toDate({base:Int32}) AND issued_at <= fromUnixTimestamp64Milli({issued:Int64}, 'UTC')
		ORDER BY place_kind, place, state, horizon, parameter`), aggregate.Number("base", int32(i.Base)), aggregate.Number("issued", issued))
}

// loadScores reads, for each place, how accurate its AQI forecasts for the last ScoreDays days were. It omits forecasts
// with horizon 1, which are for the day of the issue, because answers never show them.
func (i *Issue) loadScores(ctx context.Context, t aggregate.Tables) error {
	var kind, name, state string
	var s air.ForecastScore
	return t.Each(ctx, []any{&kind, &name, &state, &s.Forecasts, &s.MAE, &s.PersistenceMAE, &s.Coverage80}, func() {
		score := s
		score.Days, score.BeatsPersistence = ScoreDays, s.MAE <= s.PersistenceMAE
		score.MAE, score.PersistenceMAE, score.Coverage80 = round(s.MAE), round(s.PersistenceMAE), round(s.Coverage80)
		i.place(kind, name, state).score = &score
	}, t.SQL(`SELECT toString(place_kind) AS kind, toString(place) AS name, toString(state) AS region, countIf(served) AS n, avgIf(abs(error), served), avgIf(abs(error), model = 'persistence'), avgIf(covered, served)
		FROM %s.forecast_outcome WHERE run = '' AND parameter = 'aqi' AND horizon BETWEEN 2 AND 4 AND day > toDate({base:Int32}) - {days:UInt32} AND day <= toDate({base:Int32})
		GROUP BY kind, name, region HAVING n > 0 AND countIf(model = 'persistence') > 0`), aggregate.Number("base", int32(i.Base)), aggregate.Number("days", uint32(ScoreDays)))
}

// recentCities selects the outcomes of forecasts for cities over the last `days` days.
const recentCities = " WHERE run = '' AND place_kind = 'city' AND day > toDate({base:Int32}) - {days:UInt32} AND day <= toDate({base:Int32})"

// scoresOf returns the scores of a city, or of all cities together for the name "".
func (i *Issue) scoresOf(name, state string) *air.ForecastScores {
	if name == "" {
		return &i.overall
	}
	return &i.place("city", name, state).verified
}

// grouping returns the SQL of the name and the state of a city; empty texts for all cities together.
func grouping(perCity bool) string {
	if perCity {
		return "toString(place) AS name, toString(state) AS region, "
	}
	return "'' AS name, '' AS region, "
}

// loadModels reads the score of each model, by parameter and horizon. To be comparable, the scores cover only the days
// for which both models, "damped_anomaly" and "persistence", have a forecast. If there are no such days, the score of a
// model covers all days of the model.
func (i *Issue) loadModels(ctx context.Context, t aggregate.Tables, perCity bool) error {
	var name, state string
	var m air.ModelScore
	return t.Each(ctx, []any{&name, &state, &m.Parameter, &m.Horizon, &m.Model, &m.Forecasts, &m.Served, &m.MAE, &m.RMSE, &m.Bias, &m.Coverage80}, func() {
		m.MAE, m.RMSE, m.Bias, m.Coverage80 = round(m.MAE), round(m.RMSE), round(m.Bias), round(m.Coverage80)
		all := i.scoresOf(name, state)
		all.Models = append(all.Models, m)
	}, t.SQL(`SELECT name, region, p, horizon, m, n, served, mae, rmse, bias, coverage80 FROM
		(SELECT `+grouping(perCity)+`toString(parameter) AS p, horizon, toString(model) AS m, compared, count() AS n, sum(served) AS served, avg(abs(error)) AS mae, sqrt(avg(error * error)) AS rmse, avg(error) AS bias, avg(covered) AS coverage80,
			max(compared) OVER (PARTITION BY name, region, p, horizon) AS comparable
		FROM %s.forecast_outcome`+recentCities+` GROUP BY name, region, p, horizon, m, compared)
		WHERE compared = comparable ORDER BY p, horizon, m`), aggregate.Number("base", int32(i.Base)), aggregate.Number("days", uint32(ScoreDays)))
}

// loadWarnings reads how well each model has forecast events of the AQI: hits, misses, false alarms and Brier score.
func (i *Issue) loadWarnings(ctx context.Context, t aggregate.Tables, perCity bool) error {
	var name, state string
	var w air.WarningScore
	return t.Each(ctx, []any{&name, &state, &w.Event, &w.Horizon, &w.Model, &w.Forecasts, &w.Hits, &w.Misses, &w.FalseAlarms, &w.Brier}, func() {
		w.Brier = math.Round(w.Brier*1e4) / 1e4
		all := i.scoresOf(name, state)
		all.Warnings = append(all.Warnings, w)
	}, "SELECT "+grouping(perCity)+t.SQL(`toString(warned.1) AS event, horizon, toString(model) AS m, count(), countIf(warned.2 AND warned.3), countIf(NOT warned.2 AND warned.3), countIf(warned.2 AND NOT warned.3), avg(pow(warned.4 - warned.3, 2))
		FROM (SELECT place, state, horizon, model, arrayJoin(warnings) AS warned FROM %s.forecast_outcome`)+recentCities+" AND parameter = 'aqi') GROUP BY name, region, event, horizon, m ORDER BY event, horizon, m",
		aggregate.Number("base", int32(i.Base)), aggregate.Number("days", uint32(ScoreDays)))
}

// loadReliability reads how often forecast events happened, by tenths of their probability.
func (i *Issue) loadReliability(ctx context.Context, t aggregate.Tables, perCity bool) error {
	var name, state string
	var r air.Reliability
	return t.Each(ctx, []any{&name, &state, &r.Event, &r.Model, &r.Probability, &r.Frequency, &r.Forecasts}, func() {
		r.Probability, r.Frequency = round(r.Probability), round(r.Frequency)
		all := i.scoresOf(name, state)
		all.Reliability = append(all.Reliability, r)
	}, "SELECT "+grouping(perCity)+t.SQL(`toString(warned.1) AS event, toString(model) AS m, avg(toFloat64(warned.4)) AS chance, avg(toFloat64(warned.3)), count()
		FROM (SELECT place, state, model, arrayJoin(warnings) AS warned FROM %s.forecast_outcome`)+recentCities+" AND parameter = 'aqi' AND model != 'climatology')"+
		" WHERE startsWith(event, 'over') GROUP BY name, region, event, m, least(9, floor(warned.4 * 10 + 1e-4)) ORDER BY event, m, chance",
		aggregate.Number("base", int32(i.Base)), aggregate.Number("days", uint32(ScoreDays)))
}
