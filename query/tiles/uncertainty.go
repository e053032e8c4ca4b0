package tiles

import (
	"math"
	"time"

	"vayu/query/snapshot"
)

// distances divides distances to the nearest station into classes. It has the upper end of each class, in km.
var distances = [...]float64{5, 10, 25, 50, snapshot.NearestReach} //nolint:gochecknoglobals // a constant table

const (
	// leastStations is the number of stations that a class needs for an error of its own. A class with fewer
	// stations has the error over all stations.
	leastStations = 10
	// mostStations is the maximum number of stations whose figure `measure` interpolates from the other stations.
	mostStations = 500
)

// errorsByDistance has the root-mean-square error of the surface by the distance to the nearest station. The error is
// the difference between the figure of a station and the figure that is interpolated for its position from the other
// stations.
type errorsByDistance struct {
	rmse     [len(distances)]float64 // NaN if it is unknown
	stations [len(distances)]int
}

// at returns the error for a position at a distance of `km` from the nearest station.
func (e *errorsByDistance) at(km float64) float64 { return e.rmse[class(km)] }

func class(km float64) int {
	for i, end := range distances {
		if km <= end {
			return i
		}
	}
	return len(distances) - 1
}

// measure computes the errors of the surface of a parameter, from the figures of s that are not stale at `now`.
func measure(s *snapshot.Snapshot, parameter string, now time.Time) *errorsByDistance {
	var e errorsByDistance
	var squares [len(distances)]float64
	var all float64
	n := 0
	stride := max(1, (len(s.Stations)+mostStations-1)/mostStations)
	for i := 0; i < len(s.Stations); i += stride {
		at, ok := leaveOut(s, i, now)
		if !ok {
			continue
		}
		difference := float64(at.aqi - int(s.Stations[i].AQI))
		if parameter == pm25 {
			own := s.Stations[i].Concentrations[0]
			if !own.Known() || !at.pm25.Known() {
				continue
			}
			difference = float64(at.pm25-own) / 100
		}
		k := class(at.km)
		e.stations[k]++
		squares[k] += difference * difference
		all += difference * difference
		n++
	}
	for k := range distances {
		switch {
		case e.stations[k] >= leastStations:
			e.rmse[k] = math.Sqrt(squares[k] / float64(e.stations[k]))
		case n >= leastStations:
			e.rmse[k] = math.Sqrt(all / float64(n))
		default:
			e.rmse[k] = math.NaN()
		}
	}
	return &e
}
