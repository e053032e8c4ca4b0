package query

import (
	"vayu/internal/httpapi"
	"vayu/query/forecast"
	"vayu/query/param"
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
	if err := param.Texts(params); err != nil {
		return q, r, err
	}
	r.Days = forecast.MaxDays
	for _, name := range [...]string{"city", "pincode", "lat", "lon", "days", "hours"} {
		value, given := params[name]
		switch {
		case !given:
		case name == "days":
			r.Days, err = param.Count(name, value, forecast.MaxDays)
		case name == "hours":
			r.Count, err = param.Count(name, value, forecast.MaxHours)
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
		return q, r, param.Invalid("city", "Give one of city, pincode, or lat and lon.")
	}
	err = q.checkPlace()
	return q, r, err
}

// forecastScore handles GET /v1/forecast/score: the score of all models over the last 90 days.
func (s *Service) forecastScore(c *httpapi.Call) (httpapi.Response, error) {
	if err := param.Texts(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	a, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	resp, name := httpapi.Response{Cache: s.cache.At(s.now())}, c.Params["city"]
	if name != "" {
		if err := param.Name("city", name); err != nil {
			return httpapi.Response{}, err
		}
	}
	resp.Value, err = forecast.ScoreOf(snap, a.forecasts.Issue(), name)
	return resp, err
}
