package forecast

import (
	"fmt"
	"math"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
)

var errNone = schema.NewProblem(schema.NoData, "", "No forecasts were issued yet.")

// OfCity answers for a city by its name. The issue may be nil. The error is a *schema.Problem.
func OfCity(snap *snapshot.Snapshot, issue *Issue, name string, today schema.Day, days int) (httpapi.Response, error) {
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
	return place.Answer(label, today, days)
}

// Near answers for a position with the forecast of the nearest station that has one, within 100 km. The issue may be
// nil. The error is a *schema.Problem.
func Near(snap *snapshot.Snapshot, issue *Issue, point places.Point, today schema.Day, days int) (httpapi.Response, error) {
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
	return issue.Station(st.ID).AnswerFor(snap.PlaceName(i), near, today, days)
}

// ScoreOf returns the score of a city by its name, or of all cities for the name "". The issue may be nil. The error is a
// *schema.Problem.
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
