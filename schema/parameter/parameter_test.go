package parameter_test

import (
	"fmt"
	"math"
	"regexp"
	"testing"

	"vayu/schema/parameter"
)

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func TestCatalogueRowsAreComplete(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for p := range parameter.All() {
		least, most := p.Range()
		if !identifier.MatchString(p.ID()) || p.Name() == "" || p.Unit() == "" || p.Group() == "" || least >= most {
			t.Errorf("parameter %d is %q, %q, %q, %q, %v to %v", p, p.ID(), p.Name(), p.Unit(), p.Group(), least, most)
		}
		if seen[p.ID()] {
			t.Errorf("the identifier %q stands twice", p.ID())
		}
		seen[p.ID()] = true
		if got, ok := parameter.Parse(p.ID()); !ok || got != p {
			t.Errorf("Parse(%q) = %v, %v", p.ID(), got, ok)
		}
		if v, ok := p.Convert(7, p.Unit()); !ok || v != 7 {
			t.Errorf("7 %s of %s became %v, %v", p.Unit(), p, v, ok)
		}
	}
}

func TestParseAcceptsNetworkNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"PM2.5": "pm25", "P2": "pm25", "OZONE": "o3", "Eth-Benzene": "ethylbenzene", "MP-Xylene": "mp_xylene", "O Xylene": "o_xylene",
		"NOX": "nox", "relativehumidity": "humidity", "WS": "wind_speed", "RF": "rain", "blackcarbon": "bc",
	} {
		if p, ok := parameter.Parse(name); !ok || p.ID() != want {
			t.Errorf("Parse(%q) = %v, %v, want %s", name, p, ok, want)
		}
	}
	for _, name := range []string{"", "none", "um003", "pm", "date"} {
		if p, ok := parameter.Parse(name); ok {
			t.Errorf("Parse(%q) = %v", name, p)
		}
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parameter string
		value     float64
		unit      string
		want      float64
	}{
		{"no2", 10, "ppb", 10 * 46.01 / 24.45},
		{"no2", 0.01, "ppm", 10 * 46.01 / 24.45},
		{"co", 1130, "ug/m3", 1.13},
		{"co", 1, "ppm", 1000 * 28.01 / 24.45 / 1000},
		{"nox", 46.01, "µg/m³", 24.45},
		{"co2", 415000, "ppb", 415},
		{"temperature", 68, "°F", 20},
		{"temperature", 293.15, "K", 20},
		{"pressure", 760, "mmHg", 1013.25},
		{"wind_speed", 36, "km/h", 10},
		{"solar_radiation", 5, "W/mt2", 5},
		{"wind_direction", 90, "deg", 90},
	} {
		t.Run(fmt.Sprintf("%s of %v %s", c.parameter, c.value, c.unit), func(t *testing.T) {
			p, _ := parameter.Parse(c.parameter)
			if got, ok := p.Convert(c.value, c.unit); !ok || math.Abs(got-c.want) > 1e-6*math.Abs(c.want) {
				t.Errorf("%v %s of %s is %v, %v, want %v", c.value, c.unit, c.parameter, got, ok, c.want)
			}
		})
	}
	for _, c := range [][2]string{{"pm25", "ppb"}, {"no2", "furlong"}, {"no2", ""}, {"temperature", "%"}, {"tvoc", "µg/m³"}} {
		p, _ := parameter.Parse(c[0])
		if got, ok := p.Convert(1, c[1]); ok {
			t.Errorf("%s of %s became %v", c[1], c[0], got)
		}
	}
}
