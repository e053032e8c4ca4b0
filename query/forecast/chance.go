package forecast

import (
	"slices"

	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/naqi"
)

// Chance returns the probability, 0 to 1, that the AQI of a day is in a category or a worse one. It returns false if
// there is no forecast of that day.
func (p *Place) Chance(category string, day schema.Day) (float64, bool) {
	if p == nil {
		return 0, false
	}
	from := slices.Index(naqi.Categories(), category)
	for i := range p.days {
		c := p.days[i].Categories
		if p.days[i].Date != day.String() || c == nil || from < 0 {
			continue
		}
		sum := 0.0
		for _, chance := range []float64{c.Good, c.Satisfactory, c.Moderate, c.Poor, c.VeryPoor, c.Severe}[from:] {
			sum += chance
		}
		return min(round(sum), 1), true
	}
	return 0, false
}

// Nearest returns the forecasts of a station at most 100 km from a position: the nearest that has a forecast of a day
// after today. Without such a station, it returns nil.
func (i *Issue) Nearest(snap *snapshot.Snapshot, point places.Point, today schema.Day) *Place {
	for _, near := range snap.Around(point, snapshot.NearestReach, snap.Kinds) {
		if of := i.Station(snap.Stations[near.Station].ID); of.Has(today) {
			return of
		}
	}
	return nil
}
