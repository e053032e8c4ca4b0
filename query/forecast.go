package query

import (
	"fmt"
	"strconv"

	"vayu/internal/httpapi"
	"vayu/query/forecast"
)

// forecast handles GET /v1/forecast: the days after today, and the hours after now, of a city, a pin code or a position.
func (s *Service) forecast(c *httpapi.Call) (httpapi.Response, error) {
	q, request, err := parseForecast(c.Params)
	if err != nil {
		return httpapi.Response{}, err
	}
	a, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	if q.has(paramPincode) {
		if q.point, err = s.locatePin(c.Context(), q.pin); err != nil {
			return httpapi.Response{}, err
		}
	}
	request.Now, request.Issue, request.Hours = s.now(), a.forecasts.Issue(), a.forecasts.Hours()
	var resp httpapi.Response
	if q.has(paramCity) {
		resp, err = forecast.OfCity(snap, request, q.city)
	} else {
		resp, err = forecast.Near(snap, request, q.point)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	resp.Cache = s.cache.At(request.Now)
	return resp, nil
}

// parseForecast returns the place, and the numbers of days and hours, that the parameters name.
func parseForecast(params map[string]string) (q aqiQuery, r forecast.Request, err error) {
	if err := checkParams(params); err != nil {
		return q, r, err
	}
	r.Days = forecast.MaxDays
	for _, name := range [...]string{"city", "pincode", "lat", "lon", "days", "hours"} {
		value, given := params[name]
		switch {
		case !given:
		case name == "days":
			r.Days, err = parseCount(name, value, forecast.MaxDays)
		case name == "hours":
			r.Count, err = parseCount(name, value, forecast.MaxHours)
		default:
			bit := parameterBit(name)
			q.given |= bit
			err = q.set(bit, name, value)
		}
		if err != nil {
			return q, r, err
		}
	}
	if q.given == 0 {
		return q, r, invalid("city", "Give one of city, pincode, or lat and lon.")
	}
	err = q.checkPlace()
	return q, r, err
}

// parseCount parses a whole number from 1 to most, without signs and leading zeros.
func parseCount(name, value string, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most || value != strconv.Itoa(n) {
		return 0, invalid(name, fmt.Sprintf("The parameter %s is a whole number from 1 to %d.", name, most))
	}
	return n, nil
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
