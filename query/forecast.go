package query

import (
	"vayu/internal/httpapi"
	"vayu/query/forecast"
	"vayu/query/param"
	"vayu/query/request"
)

// forecast handles GET /v1/forecast: the forecasts of a place for the days after today and the hours after now.
func (s *Service) forecast(c *httpapi.Call) (httpapi.Response, error) {
	q, r, err := parseForecast(c.Params)
	if err != nil {
		return httpapi.Response{}, err
	}
	w, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	if q.Has(request.HasPincode) {
		if q.Point, err = s.locatePin(c.Context(), q.Pin); err != nil {
			return httpapi.Response{}, err
		}
	}
	r.Now, r.Issue, r.Hours = s.now(), w.forecasts.Issue(), w.forecasts.Hours()
	var resp httpapi.Response
	if q.Has(request.HasCity) {
		resp, err = forecast.OfCity(snap, r, q.City)
	} else {
		resp, err = forecast.Near(snap, r, q.Point)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	resp.Cache = s.cacheControl.At(r.Now)
	return resp, nil
}

// parseForecast returns the place and the numbers of days and hours that the parameters select.
func parseForecast(params map[string]string) (q request.Query, r forecast.Request, err error) {
	if err := param.Texts(params); err != nil {
		return q, r, err
	}
	if q, err = request.Place(params); err != nil { // first, so that its error is reported even if days or hours are invalid, too
		return q, r, err
	}
	r.Days = forecast.MaxDays
	if value, given := params["days"]; given {
		if r.Days, err = param.Count("days", value, forecast.MaxDays); err != nil {
			return q, r, err
		}
	}
	if value, given := params["hours"]; given {
		r.Count, err = param.Count("hours", value, forecast.MaxHours)
	}
	return q, r, err
}

// forecastScore handles GET /v1/forecast/score: the scores of all models in the last 90 days for a city or all cities.
func (s *Service) forecastScore(c *httpapi.Call) (httpapi.Response, error) {
	if err := param.Texts(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	w, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	resp, name := httpapi.Response{Cache: s.cacheControl.At(s.now())}, c.Params["city"]
	if name != "" {
		if err := param.Name("city", name); err != nil {
			return httpapi.Response{}, err
		}
	}
	resp.Value, err = forecast.ScoreOf(snap, w.forecasts.Issue(), name)
	return resp, err
}
