package air_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema/air"
)

func TestParseCityKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  []air.StationKind // nil: an error
	}{
		{[]string{"reference"}, []air.StationKind{air.Reference}},
		{[]string{"sensor", " reference", "sensor"}, []air.StationKind{air.Reference, air.Sensor}},
		{[]string{"sensor"}, nil},
		{[]string{"reference", "city_mean"}, nil},
		{[]string{""}, nil},
		{nil, nil},
	} {
		got, err := air.ParseCityKinds(c.names)
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != (c.want == nil) {
			t.Errorf("ParseCityKinds(%q): %v (-want +got):\n%s", c.names, err, diff)
		}
	}
}
