package scale

import "math"

const (
	// nowCastHours is the number of hours in the NowCast of particles.
	nowCastHours = 12
	// minWeight is the smallest weight factor of the NowCast of particles.
	minWeight = 0.5
)

// NowCast returns EPA's NowCast of PM2.5 or PM10, a weighted mean of the last 12 hours. `hours` has the hourly means,
// the newest first; NaN is a missing hour. The more the concentration changes, the larger are the weights of the newest
// hours. NowCast returns false unless two of the last three hours are known. The method is that of EPA-454/B-24-002,
// chapter IV.
func NowCast(hours []float64) (float64, bool) {
	hours = hours[:min(len(hours), nowCastHours)]
	known := 0
	for _, v := range hours[:min(len(hours), 3)] {
		if !math.IsNaN(v) {
			known++
		}
	}
	if known < 2 {
		return 0, false
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range hours {
		if !math.IsNaN(v) {
			least, most = min(least, v), max(most, v)
		}
	}
	if most <= 0 {
		return 0, true
	}
	factor := max(least/most, minWeight)
	sum, weights, weight := 0.0, 0.0, 1.0
	for _, v := range hours {
		if !math.IsNaN(v) {
			sum += weight * v
			weights += weight
		}
		weight *= factor
	}
	return sum / weights, true
}
