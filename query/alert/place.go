package alert

import (
	"strconv"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema/air"
)

// Place is the place of an alert. Alerts whose places have the same Key share the evaluation of their figures.
type Place struct {
	air.AlertPlace

	// Point is the position, if the place is a pin code or a position.
	Point places.Point `json:"point"`
}

// Key identifies the place within a world: places with the same key have the same figures.
func (p *Place) Key() string {
	switch {
	case p.Station != "":
		return "station/" + p.Station
	case p.City != "":
		return "city/" + p.CityName()
	}
	return "point/" + strconv.FormatFloat(p.Point.Latitude, 'f', -1, 64) + "/" + strconv.FormatFloat(p.Point.Longitude, 'f', -1, 64)
}

// Stored reports whether hourly figures of the place are stored, which holds for cities and stations.
func (p *Place) Stored() bool { return p.City != "" || p.Station != "" }

// CityName returns the unambiguous name of the city; "" if the place is no city.
func (p *Place) CityName() string {
	if p.City == "" || p.State == "" {
		return p.City
	}
	return p.City + ", " + p.State
}

// Figures returns the place's figures in snap, as GET /v1/aqi has them. It returns false if the place has none.
func (p *Place) Figures(snap *snapshot.Snapshot) (f aggregate.Figures, ok bool) {
	switch {
	case p.Station != "":
		i, known := snap.ByID[p.Station]
		if !known {
			return f, false
		}
		f = snap.Stations[i].Figures
	case p.City != "":
		i, err := snap.Index.Find(p.CityName())
		if err != nil {
			return f, false
		}
		f = snap.Cities[i].Figures
	default:
		if f, _, ok = snap.Interpolate(p.Point, snap.Kinds); !ok {
			return f, false
		}
	}
	return f, f.At > 0
}
