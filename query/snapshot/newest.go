package snapshot

import (
	"vayu/query/aggregate"
	"vayu/schema/air"
)

// newestHours has, for each grid cell and kind of station, the latest hour in which a station has an AQI.
type newestHours [][air.CityMean + 1]uint32

func newNewestHours(cells [][]int32, stations []Station) newestHours {
	out := make(newestHours, len(cells))
	for n, in := range cells {
		for _, i := range in {
			if st := &stations[i]; st.AQI >= 0 && int(st.Kind) < len(out[n]) {
				out[n][st.Kind] = max(out[n][st.Kind], st.At)
			}
		}
	}
	return out
}

// The method `of` returns the latest hour in which a station of the given kinds in a cell has an
// AQI; 0 if there is none.
func (h newestHours) of(cell int32, kinds aggregate.KindSet) uint32 {
	var at uint32
	for _, k := range air.StationKinds {
		if kinds.Has(k) {
			at = max(at, h[cell][k])
		}
	}
	return at
}
