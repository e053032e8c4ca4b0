package quality

import (
	"maps"
	"slices"
	"strings"

	"vayu/internal/config"
)

// Settings disable quality tests for some sources, select the tests whose suspect readings do not count in the index,
// and name the reference stations beside sensors.
type Settings struct {
	// Off lists, by source, the tests that do not apply to the readings of the
	// source.
	Off map[string][]string `yaml:"off" help:"tests that do not apply, by source"`
	// Exclude lists the tests whose suspect readings do not count in the index.
	// Readings that failed a test never count.
	Exclude []string `yaml:"exclude" help:"tests whose suspect readings the index leaves out; failed ones are always left out"`
	// Colocated maps the id of a sensor to the id of the reference station beside
	// it. Use it for sensors without usable positions.
	Colocated map[string]string `yaml:"colocated" help:"reference station beside a sensor, by station id"`
}

// Validate checks that the settings name existing tests. It implements
// config.Validator.
func (s Settings) Validate() []error {
	var faults []error
	unknown := func(key, name string) {
		if _, ok := TestNamed(name); !ok {
			faults = append(faults, config.Invalid(key, "there is no test %q; the tests are %s", name, testNames()))
		}
	}
	for _, source := range slices.Sorted(maps.Keys(s.Off)) {
		for _, name := range s.Off[source] {
			unknown("off."+source, name)
		}
	}
	for _, name := range s.Exclude {
		unknown("exclude", name)
	}
	return faults
}

func testNames() string {
	names := make([]string, len(Tests))
	for i, t := range Tests {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}
