package quality

import (
	"maps"
	"slices"
	"strings"

	"vayu/internal/config"
)

// Settings select the quality tests that run, and those whose results exclude
// readings from the index.
type Settings struct {
	// Off lists, by source, the tests that do not apply to its readings.
	Off map[string][]string `yaml:"off" help:"tests that do not apply, by source"`
	// Exclude lists the tests whose suspect readings the index excludes. Failed
	// readings are always excluded.
	Exclude []string `yaml:"exclude" help:"tests whose suspect readings the index leaves out; failed ones are always left out"`
	// Colocated maps a sensor to a nearby reference station, by their ids. Use it for
	// sensors without usable positions.
	Colocated map[string]string `yaml:"colocated" help:"reference station beside a sensor, by station id"`
}

// Validate checks the names of tests. It implements config.Validator.
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
