// Package forecast holds the latest forecasts of a world (live or sandbox) in memory, and reads their score.
package forecast

import (
	"encoding/json"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// MaxDays is the largest number of days of an answer.
const MaxDays = 3

// ScoreDays is the number of days over which answers give the score.
const ScoreDays = 90

// Issue has the forecasts with the same base day, the last day whose data they use. It is immutable.
type Issue struct {
	Base     schema.Day // last day whose data the forecasts use
	IssuedAt time.Time  // time of the latest forecasts; those of a place can be older (see Place.issuedAt)
	FittedAt time.Time
	overall  air.ForecastScores // of all cities
	cities   map[places.City]*Place
	stations map[string]*Place
}

// City returns the forecasts of a city; nil if it had no data within the last hundred days.
func (i *Issue) City(c places.City) *Place { return i.cities[c] }

// Station returns the forecasts of a station; nil if it had no data within the last hundred days.
func (i *Issue) Station(id string) *Place { return i.stations[id] }

// Place has the forecasts of one place.
type Place struct {
	issue    *Issue
	days     []air.ForecastDay // in order, the first is the day after the base
	score    *air.ForecastScore
	verified air.ForecastScores  // models, warnings and reliability
	reasons  []map[string]string // why persistence is served, by day and parameter
	reason   string              // why the first parameter without a forecast has none
	issuedAt time.Time           // later than that of other places if the data of its last day were late
	cache    [MaxDays + 1]atomic.Pointer[cached]
}

// cached is a rendered answer. It is valid on one Indian day only.
type cached struct {
	today    schema.Day
	response httpapi.Response
}

// scores returns the scores of the city c, or of all cities together if `name` is "". Lists without scores are empty.
func (i *Issue) scores(name string, c places.City) air.ForecastScores {
	reply := i.overall
	if name != "" {
		reply = air.ForecastScores{City: &name}
		if p := i.cities[c]; p != nil {
			reply.Models, reply.Warnings, reply.Reliability = p.verified.Models, p.verified.Warnings, p.verified.Reliability
		}
	}
	reply.Status, reply.Days = schema.Success, ScoreDays
	if reply.Models == nil {
		reply.Models = []air.ModelScore{}
	}
	if reply.Warnings == nil {
		reply.Warnings = []air.WarningScore{}
	}
	if reply.Reliability == nil {
		reply.Reliability = []air.Reliability{}
	}
	return reply
}

// Has reports whether the place has a forecast of a day after today.
func (p *Place) Has(today schema.Day) bool { return p != nil && len(p.after(today)) > 0 }

// after returns the forecasts of the days after today.
func (p *Place) after(today schema.Day) []air.ForecastDay {
	return p.days[min(max(int(today-p.issue.Base), 0), len(p.days)):]
}

// Answer returns the reply for the city `name`. The reply has the forecasts of the first `days` days after `today`, and
// `hourly` if not nil. On one day, all calls with the same `days` and without `hourly` share one reply.
func (p *Place) Answer(name string, today schema.Day, days int, hourly *air.HourlyForecast) (httpapi.Response, error) {
	if hourly != nil {
		return p.render(name, nil, today, days, hourly)
	}
	if c := p.cache[days].Load(); c != nil && c.today == today {
		return c.response, nil
	}
	response, err := p.render(name, nil, today, days, nil)
	if err == nil {
		p.cache[days].Store(&cached{today, response})
	}
	return response, err
}

// AnswerFor returns the reply for a position. `name` is the name of the position in the reply. The reply has the
// forecasts of p, those of the nearby `station`. p.Has(today) must be true. For `days` and `hourly` see [Place.Answer].
func (p *Place) AnswerFor(name string, station air.ForecastStation, today schema.Day, days int, hourly *air.HourlyForecast) (httpapi.Response, error) {
	return p.render(name, &station, today, days, hourly)
}

func (p *Place) render(name string, station *air.ForecastStation, today schema.Day, days int, hourly *air.HourlyForecast) (httpapi.Response, error) {
	all := p.after(today)
	reply := air.Forecast{
		Status: schema.Success, City: name, Station: station, IssuedAt: p.issuedAt, FittedAt: p.issue.FittedAt, Days: all[:min(days, len(all))], Score: p.score, Hourly: hourly,
	}
	first := &reply.Days[0]
	parameter, model := shown(first)
	reply.Model = model
	if reason := p.reasons[first.Horizon-1][parameter]; reason != "" {
		reply.Reason = &reason
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("writing a forecast: %w", err)
	}
	changed := p.issuedAt
	if hourly != nil && hourly.IssuedAt != nil && hourly.IssuedAt.After(changed) {
		changed = *hourly.IssuedAt
	}
	return httpapi.Ready(body, changed), nil
}

// shown returns the parameter and the model that a reply names for a day. They are those of the AQI or, without
// an AQI, those of the first concentration.
func shown(d *air.ForecastDay) (parameter, model string) {
	for i, f := range [...]*air.Percentiles{d.AQI, d.PM25, d.PM10, d.NO2, d.SO2, d.CO, d.O3} {
		if f != nil {
			return [...]string{"aqi", "pm25", "pm10", "no2", "so2", "co", "o3"}[i], f.Model
		}
	}
	return "", ""
}

// set sets the forecast of a parameter in d. `chances` are the probabilities of the categories of the AQI.
func set(d *air.ForecastDay, parameter string, f *air.Percentiles, chances []float32) {
	switch parameter {
	case "aqi":
		category := naqi.Category(int(f.P50))
		d.AQI, d.Category = f, &category
		c := make([]float64, len(chances))
		for i := range c {
			c[i] = round(float64(chances[i]))
		}
		d.Categories = &air.CategoryChances{Good: c[0], Satisfactory: c[1], Moderate: c[2], Poor: c[3], VeryPoor: c[4], Severe: c[5]}
	case air.PM25.String():
		d.PM25 = f
	case air.PM10.String():
		d.PM10 = f
	case air.NO2.String():
		d.NO2 = f
	case air.SO2.String():
		d.SO2 = f
	case air.CO.String():
		d.CO = f
	case air.O3.String():
		d.O3 = f
	}
}

// round rounds to hundredths.
func round(v float64) float64 { return math.Round(v*100) / 100 }

// Reason returns a sentence that tells clients why the place has no forecast.
func (p *Place) Reason() string {
	text := map[string]string{
		"no_recent_data":     "the last day has no data",
		"implausible_value":  "the last day has a value that instruments report for no measurement",
		"constant_series":    "the values of the last week are all equal",
		"too_little_history": "there is less than a week of data",
		"no_residuals":       "an interval needs the errors of a month of data",
	}[p.reason]
	if text == "" {
		return "The last forecast is too old."
	}
	return "No forecast was issued: " + text + "."
}
