package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/schema/air"
)

func TestStationsWithoutAPositionAreLast(t *testing.T) {
	t.Parallel()
	var s Snapshot
	for _, p := range []places.Point{{}, {Latitude: 18.6, Longitude: 73.8}, {Latitude: 18.5, Longitude: 73.8}} {
		s.Stations = append(s.Stations, Station{Station: air.Station{Kind: air.Reference, Latitude: p.Latitude, Longitude: p.Longitude}})
	}
	c := city{Position: places.Point{Latitude: 18.5, Longitude: 73.8}, Stations: []int32{0, 1, 2}}
	var got []int32
	for _, sample := range s.OfCity(&c, aggregate.KindsOf(air.StationKinds[:]...)) {
		got = append(got, sample.Station)
	}
	if diff := cmp.Diff([]int32{2, 1, 0}, got); diff != "" {
		t.Errorf("stations (-want +got):\n%s", diff)
	}
}
