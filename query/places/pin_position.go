package places

import "slices"

// maxStray is the largest distance, in km, between a pin code and the median position of its sorting district. The pin
// codes of a sorting district have the same first three digits.
const maxStray = 150

// locate returns one position for each pin code, sorted by code. The position is the median of the code's post
// offices. If that median is unknown or too far from the median of the sorting district, the position is the median
// of the district. locate omits pin codes for which both are unknown.
func locate(offices []packedPin) []packedPin {
	slices.SortFunc(offices, func(a, b packedPin) int { return int(a.code - b.code) })
	district := map[int32]Point{}
	for group := range groups(offices, 1000) {
		district[group[0].code/1000] = median(group)
	}
	var table []packedPin
	for group := range groups(offices, 1) {
		code := group[0].code
		at, around := median(group), district[code/1000]
		if !at.Known() || (around.Known() && Distance(at, around) > maxStray) {
			at = around
		}
		if at.Known() {
			table = append(table, packedPin{code, float32(at.Latitude), float32(at.Longitude)})
		}
	}
	return slices.Clip(table)
}

// groups yields groups of consecutive offices whose codes, divided by `divisor` and rounded down, are equal.
func groups(offices []packedPin, divisor int32) func(func([]packedPin) bool) {
	return func(yield func([]packedPin) bool) {
		for start := 0; start < len(offices); {
			end := start + 1
			for end < len(offices) && offices[end].code/divisor == offices[start].code/divisor {
				end++
			}
			if !yield(offices[start:end]) {
				return
			}
			start = end
		}
	}
}

// median returns the median latitude and longitude of the offices that have a
// position. It returns an unknown point if no office has one.
func median(offices []packedPin) Point {
	var lats, lons []float32
	for _, o := range offices {
		if o.lat != 0 || o.lon != 0 {
			lats, lons = append(lats, o.lat), append(lons, o.lon)
		}
	}
	if len(lats) == 0 {
		return Point{}
	}
	return Point{Latitude: medianOf(lats), Longitude: medianOf(lons)}
}

func medianOf(values []float32) float64 {
	slices.Sort(values)
	n := len(values)
	return (float64(values[(n-1)/2]) + float64(values[n/2])) / 2
}
