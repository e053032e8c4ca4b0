package query

import (
	"fmt"

	"vayu/internal/httpapi"
	"vayu/query/forecast"
	"vayu/schema"
)

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
	now := s.now()
	today := schema.DayOf(now)
	if q.has(paramPincode) {
		if q.point, err = s.locatePin(c.Context(), q.pin); err != nil {
			return httpapi.Response{}, err
		}
	}
	issue := a.forecasts.Issue()
	var resp httpapi.Response
	if q.has(paramCity) {
		resp, err = forecast.OfCity(snap, issue, q.city, today, days)
	} else {
		resp, err = forecast.Near(snap, issue, q.point, today, days)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	resp.Cache = s.cache.At(now)
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
	err = q.checkPlace()
	return q, days, err
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
	resp, name := httpapi.Response{Cache: s.cache.At(s.now())}, c.Params["city"]
	if name != "" {
		if err := checkName("city", name); err != nil {
			return httpapi.Response{}, err
		}
	}
	resp.Value, err = forecast.ScoreOf(snap, a.forecasts.Issue(), name)
	return resp, err
}
