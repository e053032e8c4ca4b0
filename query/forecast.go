package query

import (
	"context"
	"fmt"
	"math"
	"time"

	"vayu/internal/failurelog"
	"vayu/internal/httpapi"
	"vayu/internal/sleep"
	"vayu/query/forecast"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
)

// forecastPoll is the interval between two polls for a new issue of forecasts. There is one issue a day.
const forecastPoll = 15 * time.Second

// followForecasts polls for new issues of forecasts of a world until ctx ends.
func (s *Service) followForecasts(ctx context.Context, a *worldState) {
	failures := failurelog.New(s.log, "query: ClickHouse", "reading the forecasts of "+a.world.String(), "the last ones stay published", a.metrics.errors)
	sleep.Repeat(ctx, forecastPoll, func(ctx context.Context) {
		if err := s.RefreshForecasts(ctx, a.world); ctx.Err() == nil {
			failures.Observe(ctx, err)
		}
	})
}

// RefreshForecasts reads the latest issue of forecasts of a world, if it is new.
func (s *Service) RefreshForecasts(ctx context.Context, world schema.World) error {
	a := s.worlds[world]
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	issue, err := forecast.Load(ctx, a.snapshotTables, a.forecasts.Load())
	if err == nil {
		a.forecasts.Store(issue)
	}
	return err
}

var errNoForecasts = schema.NewProblem(schema.NoData, "", "No forecasts were issued yet.")

// forecast handles GET /v1/forecast: the days after today of a city, a pin code or a position.
func (s *Service) forecast(c *httpapi.Call) (httpapi.Response, error) {
	q, days, err := parseForecast(c.Params)
	if err != nil {
		return httpapi.Response{}, err
	}
	a, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	issue := a.forecasts.Load()
	now := s.now()
	var resp httpapi.Response
	if q.has(paramCity) {
		resp, err = cityForecast(snap, issue, q.city, schema.DayOf(now), days)
	} else {
		resp, err = s.positionForecast(c.Context(), snap, issue, &q, schema.DayOf(now), days)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	resp.Cache = s.cacheControl(now)
	return resp, nil
}

// parseForecast returns the place and the number of days that the parameters name.
func parseForecast(params map[string]string) (q aqiQuery, days int, err error) {
	if err := checkParams(params); err != nil {
		return q, 0, err
	}
	days = forecast.MaxDays
	for _, name := range [...]string{"city", "pincode", "lat", "lon", "days"} {
		value, given := params[name]
		switch {
		case !given:
		case name == "days":
			if len(value) != 1 || value[0] < '1' || value[0] > '0'+forecast.MaxDays {
				return q, 0, invalid(name, fmt.Sprintf("The parameter days is a whole number from 1 to %d.", forecast.MaxDays))
			}
			days = int(value[0] - '0')
		default:
			bit := parameterBit(name)
			q.given |= bit
			if err := q.set(bit, name, value); err != nil {
				return q, 0, err
			}
		}
	}
	if q.given == 0 {
		return q, 0, invalid("city", "Give one of city, pincode, or lat and lon.")
	}
	return q, days, q.checkPlace()
}

func cityForecast(snap *snapshot.Snapshot, issue *forecast.Issue, name string, today schema.Day, days int) (httpapi.Response, error) {
	i, err := snap.Index.Find(name)
	if err != nil {
		return httpapi.Response{}, err
	}
	if issue == nil {
		return httpapi.Response{}, errNoForecasts
	}
	label := snap.Index.Label(i)
	place := issue.City(snap.Cities[i].City)
	switch {
	case place == nil:
		return httpapi.Response{}, schema.NewProblem(schema.NoData, "city", "There is no forecast for "+label+": it had no complete day within the last hundred days.")
	case !place.Has(today):
		return httpapi.Response{}, schema.NewProblem(schema.NoData, "city", "There is no forecast for "+label+". "+place.Reason())
	}
	return place.Answer(label, today, days)
}

// positionForecast answers with the forecast of the nearest station that has one, within 100 km.
func (s *Service) positionForecast(
	ctx context.Context, snap *snapshot.Snapshot, issue *forecast.Issue, q *aqiQuery, today schema.Day, days int,
) (httpapi.Response, error) {
	if q.has(paramPincode) {
		var err error
		if q.point, err = s.locatePin(ctx, q.pin); err != nil {
			return httpapi.Response{}, err
		}
	}
	if issue == nil {
		return httpapi.Response{}, errNoForecasts
	}
	i, km := snap.Nearest(q.point, func(st *snapshot.Station) bool { return snap.Kinds.Has(st.Kind) && issue.Station(st.ID).Has(today) })
	if i < 0 || km > snapshot.NearestReach {
		problem := schema.NewProblem(schema.NoStationNearby, "", fmt.Sprintf("No station within %g km has a forecast.", snapshot.NearestReach))
		if i >= 0 {
			problem.DistanceKM = snapshot.Kilometres(km)
		}
		return httpapi.Response{}, problem
	}
	st := &snap.Stations[i]
	near := air.ForecastStation{ID: st.ID, Name: st.Name, DistanceKM: math.Round(km*100) / 100}
	return issue.Station(st.ID).AnswerFor(snap.PlaceName(i), near, today, days)
}

// forecastScore handles GET /v1/forecast/score: the score of all models over the last 90 days.
func (s *Service) forecastScore(c *httpapi.Call) (httpapi.Response, error) {
	if err := checkParams(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	a, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	var city places.City
	var label string
	if name, given := c.Params["city"]; given {
		if err := checkName("city", name); err != nil {
			return httpapi.Response{}, err
		}
		i, err := snap.Index.Find(name)
		if err != nil {
			return httpapi.Response{}, err
		}
		city, label = snap.Cities[i].City, snap.Index.Label(i)
	}
	issue := a.forecasts.Load()
	if issue == nil {
		return httpapi.Response{}, errNoForecasts
	}
	return httpapi.Response{Value: issue.Scores(label, city), Cache: s.cacheControl(s.now())}, nil
}
