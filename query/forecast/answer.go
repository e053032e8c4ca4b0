package forecast

import (
	"fmt"
	"math"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
)

var errNone = schema.NewProblem(schema.NoData, "", "No forecasts were issued yet.")

// Request selects the content of an answer. `Now` is the present time. `Days` is the number of days after today.
// `Count` is the number of hours after `Now`; 0 for no hours. `Issue` and `Hours` may be nil.
type Request struct {
	Issue *Issue
	Hours *Hours
	Now   time.Time
	Days  int
	Count int
}

// OfCity answers with the forecast of the city that is called `name`. The error is a *schema.Problem.
func OfCity(snap *snapshot.Snapshot, r Request, name string) (httpapi.Response, error) {
	issue, today := r.Issue, schema.DayOf(r.Now)
	i, err := snap.Index.Find(name)
	if err != nil {
		return httpapi.Response{}, err
	}
	if issue == nil {
		return httpapi.Response{}, errNone
	}
	label := snap.Index.Label(i)
	place := issue.City(snap.Cities[i].City)
	switch {
	case place == nil:
		return httpapi.Response{}, schema.NewProblem(schema.NoData, "city", "There is no forecast for "+label+": it had no complete day within the last hundred days.")
	case !place.Has(today):
		return httpapi.Response{}, schema.NewProblem(schema.NoData, "city", "There is no forecast for "+label+". "+place.Reason())
	}
	var hourly *air.HourlyForecast
	if r.Count > 0 {
		hourly = r.Hours.City(snap.Cities[i].City, r.Now, r.Count)
	}
	return place.Answer(label, today, r.Days, hourly)
}

// Near answers for a position with the forecast of the nearest station of snap.Kinds that has one, within 100 km. The
// error is a *schema.Problem.
func Near(snap *snapshot.Snapshot, r Request, point places.Point) (httpapi.Response, error) {
	issue, today := r.Issue, schema.DayOf(r.Now)
	if issue == nil {
		return httpapi.Response{}, errNone
	}
	i, km := snap.Nearest(point, func(st *snapshot.Station) bool { return snap.Kinds.Has(st.Kind) && issue.Station(st.ID).Has(today) })
	if i < 0 || km > snapshot.NearestReach {
		problem := schema.NewProblem(schema.NoStationNearby, "", fmt.Sprintf("No station within %g km has a forecast.", snapshot.NearestReach))
		if i >= 0 {
			problem.DistanceKM = snapshot.Kilometres(km)
		}
		return httpapi.Response{}, problem
	}
	st := &snap.Stations[i]
	near := air.ForecastStation{ID: st.ID, Name: st.Name, DistanceKM: math.Round(km*100) / 100}
	var hourly *air.HourlyForecast
	if r.Count > 0 {
		hourly = r.Hours.Station(st.ID, r.Now, r.Count)
	}
	return issue.Station(st.ID).AnswerFor(snap.PlaceName(i), near, today, r.Days, hourly)
}

// ScoreOf returns the score of a city by its name, or of all cities for the name "". `issue` may be nil. The error is
// a *schema.Problem.
func ScoreOf(snap *snapshot.Snapshot, issue *Issue, name string) (air.ForecastScores, error) {
	var city places.City
	var label string
	if name != "" {
		i, err := snap.Index.Find(name)
		if err != nil {
			return air.ForecastScores{}, err
		}
		city, label = snap.Cities[i].City, snap.Index.Label(i)
	}
	if issue == nil {
		return air.ForecastScores{}, errNone
	}
	return issue.scores(label, city), nil
}
