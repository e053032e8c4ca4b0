package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

func TestParseCityKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  []schema.StationKind // nil: an error
	}{
		{[]string{"reference"}, []schema.StationKind{schema.Reference}},
		{[]string{"sensor", " reference", "sensor"}, []schema.StationKind{schema.Reference, schema.Sensor}},
		{[]string{"sensor"}, nil},
		{[]string{"reference", "city_mean"}, nil},
		{[]string{""}, nil},
		{nil, nil},
	} {
		got, err := schema.ParseCityKinds(c.names)
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != (c.want == nil) {
			t.Errorf("ParseCityKinds(%q): %v (-want +got):\n%s", c.names, err, diff)
		}
	}
}
