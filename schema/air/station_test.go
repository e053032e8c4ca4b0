package air_test

import (
	"fmt"
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
		t.Run(fmt.Sprintf("%q", c.names), func(t *testing.T) {
			got, err := air.ParseCityKinds(c.names)
			if (err != nil) != (c.want == nil) {
				t.Errorf("got error %v, want one: %v", err, c.want == nil)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
}
