// Package local finds the places of alerts, and the current and past air quality there.
package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"vayu/query/aggregate"
	"vayu/query/alert"
	"vayu/query/alert/evaluation"
	"vayu/query/forecast"
	"vayu/query/history"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
)

// Air has the air quality and the forecasts of both worlds (live and sandbox). It implements the interfaces Air of
// packages alert and evaluation.
type Air struct {
	Publishers [len(schema.Worlds)]*snapshot.Publisher
	Histories  [len(schema.Worlds)]*history.History
	Latest     [len(schema.Worlds)]*forecast.Latest
	// LocatePin returns the position of a pin code. The error is a *schema.Problem.
	LocatePin func(ctx context.Context, code int32) (places.Point, error)
	Now       func() time.Time
}

// published is a snapshot with the publication to which it belongs.
type published struct {
	*snapshot.Snapshot
	publication aggregate.Publication
}

// Figures returns the current figures of a place; false if there are none.
func (p published) Figures(of *alert.Place) (aggregate.Figures, bool) { return of.Figures(p.Snapshot) }

// Publication returns the publication to which the snapshot belongs.
func (p published) Publication() aggregate.Publication { return p.publication }

// Published returns the published air quality of a world; nil if this process has not built a snapshot.
func (a Air) Published(world schema.World) evaluation.Published {
	if snap, publication := a.Publishers[world].Built(); snap != nil {
		return published{snap, publication}
	}
	return nil
}

// Observe returns the current figures of a place and its forecasts. It returns false if there are no figures.
func (a Air) Observe(world schema.World, p *alert.Place) (o alert.Observation, ok bool) {
	snap := a.Publishers[world].Latest()
	if snap == nil {
		return o, false
	}
	o.Figures, ok = p.Figures(snap)
	o.Chances = a.Chances(world, p)
	return o, ok
}

// Forecasts reports whether the service has forecasts.
func (a Air) Forecasts() bool { return a.Latest[schema.Live] != nil }

// Chances returns a function that looks up the forecasts of a place. Each call uses the latest forecasts. The function
// caches the result until there is a new snapshot, a new issue of forecasts, or a new day.
func (a Air) Chances(world schema.World, p *alert.Place) alert.Chances {
	type key struct {
		snap  *snapshot.Snapshot
		issue *forecast.Issue
		today schema.Day
	}
	var last key
	var of *forecast.Place
	return func(category string, day int) (float64, bool) {
		now := key{a.Publishers[world].Latest(), a.Latest[world].Issue(), schema.DayOf(a.Now())}
		if now.snap == nil || now.issue == nil {
			return 0, false
		}
		if now != last {
			last, of = now, forecastOf(p, now.issue, now.snap, now.today)
		}
		return of.Chance(category, now.today+schema.Day(day))
	}
}

// forecastOf returns the forecasts of a place; nil for none.
func forecastOf(p *alert.Place, issue *forecast.Issue, snap *snapshot.Snapshot, today schema.Day) *forecast.Place {
	switch {
	case p.Station != "":
		return issue.Station(p.Station)
	case p.City != "":
		return issue.City(places.City{Name: p.City, State: p.State})
	}
	return issue.Nearest(snap, p.Point, today)
}

// Hours returns the hours of a place on the Indian days from `from` to `to`, both included, in time order. Before the
// first snapshot the error is a *schema.Problem with the code service_unavailable.
func (a Air) Hours(ctx context.Context, world schema.World, p *alert.Place, from, to schema.Day) ([]aggregate.Figures, error) {
	past, snap := a.Histories[world], a.Publishers[world].Latest()
	if snap == nil {
		return nil, noFigures()
	}
	q := history.Query{City: -1, Point: p.Point, Span: history.Span{First: from, Last: to}, Interval: history.Hours}
	var dated []history.Dated
	var err error
	switch {
	case p.Station != "":
		dated, err = past.StationFigures(ctx, p.Station, "", q.Span, true)
	case p.City != "":
		if q.City, err = snap.Index.Find(p.CityName()); err != nil {
			return nil, err
		}
		fallthrough
	default:
		_, dated, err = past.Figures(ctx, snap, &q)
	}
	hours := make([]aggregate.Figures, len(dated))
	for i := range dated {
		hours[i] = dated[i].Figures
	}
	return hours, err
}

// Place resolves the place of an alert. If the place is unknown, the error is a *schema.Problem with the status 422
// that names the field. Before the first snapshot the code is service_unavailable.
func (a Air) Place(ctx context.Context, world schema.World, requested air.AlertPlace) (alert.Place, error) {
	snap := a.Publishers[world].Latest()
	if snap == nil {
		return alert.Place{}, noFigures()
	}
	switch {
	case requested.City != "":
		return cityPlace(snap, requested.City)
	case requested.Station != "":
		return stationPlace(snap, requested.Station)
	}
	p := alert.Place{AlertPlace: requested}
	field := "place.lat"
	if requested.Pincode != "" {
		field = "place.pincode"
		code, ok := places.ParsePin(requested.Pincode)
		if !ok {
			return p, unknownPlace(field, "A pin code has six digits 0–9 and does not begin with 0.")
		}
		var err error
		if p.Point, err = a.LocatePin(ctx, code); err != nil {
			return p, placeProblem(field, err)
		}
	} else {
		p.Point = places.Point{Latitude: *requested.Latitude, Longitude: *requested.Longitude}
		switch {
		case math.Abs(p.Point.Latitude) > 90:
			return p, unknownPlace(field, "The latitude must be between -90 and 90.")
		case math.Abs(p.Point.Longitude) > 180:
			return p, unknownPlace("place.lon", "The longitude must be between -180 and 180.")
		}
	}
	near := snap.Around(p.Point, snapshot.NearestReach, snap.Kinds)
	if len(near) == 0 {
		return p, unknownPlace(field, fmt.Sprintf("No station is within %.0f km.", snapshot.NearestReach))
	}
	p.Name = snap.PlaceName(near[0].Station)
	return p, nil
}

func cityPlace(snap *snapshot.Snapshot, name string) (alert.Place, error) {
	if len(name) > maxName {
		return alert.Place{}, unknownPlace("place.city", fmt.Sprintf("A name has at most %d bytes.", maxName))
	}
	i, err := snap.Index.Find(name)
	if err != nil {
		return alert.Place{}, placeProblem("place.city", err)
	}
	c := snap.Cities[i].City
	return alert.Place{AlertPlace: air.AlertPlace{City: c.Name, State: c.State, Name: snap.Index.Label(i)}}, nil
}

func stationPlace(snap *snapshot.Snapshot, id string) (alert.Place, error) {
	i, ok := snap.ByID[id]
	if !ok {
		return alert.Place{}, unknownPlace("place.station", "There is no such public station; GET /v1/stations lists them.")
	}
	return alert.Place{AlertPlace: air.AlertPlace{Station: id, Name: snap.Stations[i].Name}}, nil
}

// maxName is the maximum length of a city's name in bytes; the longest in the gazetteer has 96.
const maxName = 200

func noFigures() error {
	return schema.NewProblem(schema.ServiceUnavailable, "", "There are no figures yet.")
}

func unknownPlace(field, message string) error {
	return schema.NewProblem(schema.InvalidAlert, field, message)
}

// placeProblem returns a copy of a problem about a place, with the code invalid_alert and the given field. It returns
// other errors, such as service_unavailable, unchanged.
func placeProblem(field string, err error) error {
	problem, ok := errors.AsType[*schema.Problem](err)
	if !ok || problem.Code.Status() >= http.StatusInternalServerError {
		return err
	}
	p := *problem
	p.Code, p.Field = schema.InvalidAlert, field
	return &p
}
