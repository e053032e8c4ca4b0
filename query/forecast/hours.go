package forecast

import (
	"context"
	"fmt"
	"time"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/schema/air"
)

// MaxHours is the largest number of hours of an answer.
const MaxHours = 48

// Hours has the hourly forecasts of PM2.5 for the hours after the time Base. It is immutable.
type Hours struct {
	Base     time.Time // end of the last hour whose data the forecasts use
	IssuedAt time.Time
	FittedAt time.Time
	cities   map[places.City]*placeHours
	stations map[string]*placeHours
}

// placeHours has the hourly forecasts of one place.
type placeHours struct {
	Hours  []air.ForecastHour // in order; some may be missing
	Reason string             // why there are none
	Score  *air.ForecastScore
}

// City returns the forecasts of a city for the given number of hours after `now`. h may be nil.
func (h *Hours) City(c places.City, now time.Time, hours int) *air.HourlyForecast {
	if h == nil {
		return none()
	}
	return h.after(h.cities[c], now, hours)
}

// Station returns the forecasts of a station as [Hours.City] does for a city.
func (h *Hours) Station(id string, now time.Time, hours int) *air.HourlyForecast {
	if h == nil {
		return none()
	}
	return h.after(h.stations[id], now, hours)
}

func none() *air.HourlyForecast {
	reason := "not_issued"
	return &air.HourlyForecast{Reason: &reason, Hours: []air.ForecastHour{}}
}

func (h *Hours) after(p *placeHours, now time.Time, hours int) *air.HourlyForecast {
	reply := none()
	if p == nil {
		return reply
	}
	reply.Base, reply.IssuedAt, reply.FittedAt, reply.Score = &h.Base, &h.IssuedAt, &h.FittedAt, p.Score
	last := now.Add(time.Duration(hours) * time.Hour)
	for _, hour := range p.Hours {
		if hour.At.After(now) && !hour.At.After(last) {
			reply.Hours = append(reply.Hours, hour)
		}
	}
	switch {
	case len(reply.Hours) > 0:
		reply.Reason = nil
	case p.Reason != "":
		reply.Reason = &p.Reason
	}
	return reply
}

// loadHours reads the latest hourly forecasts. It returns `earlier` if no newer ones exist, and nil if none exist.
func loadHours(ctx context.Context, t aggregate.Tables, earlier *Hours) (*Hours, error) {
	var base, issued, fitted int64
	err := t.Each(ctx, []any{&base, &issued, &fitted}, func() {}, t.SQL("SELECT toInt64(base), toUnixTimestamp64Milli(issued_at), toUnixTimestamp64Milli(fitted_at) "+
		"FROM %s.forecast_hour_issue FINAL WHERE run = '' ORDER BY base DESC LIMIT 1"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the latest issue of forecasts of hours: %w", err)
	case base == 0:
		return nil, nil
	case earlier != nil && earlier.IssuedAt.UnixMilli() == issued:
		return earlier, nil
	}
	h := newHours(time.Unix(base, 0).UTC(), time.UnixMilli(issued).UTC(), time.UnixMilli(fitted).UTC())
	if err := h.load(ctx, t); err != nil {
		return nil, fmt.Errorf("reading forecasts of hours: %w", err)
	}
	return h, nil
}

func newHours(base, issued, fitted time.Time) *Hours {
	return &Hours{Base: base, IssuedAt: issued, FittedAt: fitted, cities: map[places.City]*placeHours{}, stations: map[string]*placeHours{}}
}

func (h *Hours) place(kind, name, state string) *placeHours {
	if kind == "station" {
		if h.stations[name] == nil {
			h.stations[name] = &placeHours{}
		}
		return h.stations[name]
	}
	key := places.City{Name: name, State: state}
	if h.cities[key] == nil {
		h.cities[key] = &placeHours{}
	}
	return h.cities[key]
}

func (h *Hours) load(ctx context.Context, t aggregate.Tables) error {
	var kind, name, state, model, reason string
	var horizon uint8
	var p10, p50, p90 float32
	base := aggregate.Number("base", h.Base.Unix())
	err := t.Each(ctx, []any{&kind, &name, &state, &horizon, &model, &p10, &p50, &p90, &reason}, func() {
		p := h.place(kind, name, state)
		if horizon == 0 {
			p.Reason = reason
			return
		}
		p.Hours = append(p.Hours, air.ForecastHour{At: h.Base.Add(time.Duration(horizon) * time.Hour),
			PM25: air.Percentiles{P10: round(float64(p10)), P50: round(float64(p50)), P90: round(float64(p90)), Model: model}})
	}, t.SQL(`SELECT toString(place_kind), toString(place), toString(state), horizon, toString(model), p10, p50, p90, toString(reason)
		FROM %s.forecast_hour FINAL WHERE run = '' AND served AND parameter = 'pm25' AND base = toDateTime({base:Int64}, 'UTC') ORDER BY place_kind, place, state, horizon`), base)
	if err != nil {
		return err
	}
	var s air.ForecastScore
	return t.Each(ctx, []any{&kind, &name, &state, &s.Forecasts, &s.MAE, &s.PersistenceMAE, &s.Coverage80}, func() {
		score := s
		score.Days, score.BeatsPersistence = ScoreDays, s.MAE <= s.PersistenceMAE
		score.MAE, score.PersistenceMAE, score.Coverage80 = round(s.MAE), round(s.PersistenceMAE), round(s.Coverage80)
		h.place(kind, name, state).Score = &score
	}, t.SQL(`SELECT toString(place_kind) AS kind, toString(place) AS name, toString(state) AS region, sumIf(forecasts, model = 'served') AS n,
			sumIf(mae * forecasts, model = 'served') / n, sumIf(mae * forecasts, model = 'repeated') / sumIf(forecasts, model = 'repeated'), sumIf(coverage80 * forecasts, model = 'served') / n
		FROM %s.forecast_hour_score WHERE run = '' AND fitted_at = fromUnixTimestamp64Milli({fitted:Int64}, 'UTC') AND until <= {most:UInt32}
		GROUP BY kind, name, region HAVING n > 0 AND countIf(model = 'repeated') > 0`), aggregate.Number("fitted", h.FittedAt.UnixMilli()), aggregate.Number("most", uint32(MaxHours)))
}
