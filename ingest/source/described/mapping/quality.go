package mapping

import (
	"strconv"

	"vayu/ingest"
	"vayu/ingest/source/described/record"
	"vayu/internal/config/section"
	"vayu/schema/air"
)

// test is a quality test of a record. It tests a quality field of the network, or the value itself.
type test struct {
	field           record.Path
	reject, clipped []string
	below, above    *float64 // limits of accepted numbers; nil for none
	required        bool     // reject records in which the field is missing or empty
	mapped          int      // index of the field in Mapping.fields
}

// readTests reads the section `quality`, whose keys are paths.
func readTests(s *section.Section) []test {
	var all []test
	for _, name := range s.Names() {
		one := s.Section(name)
		t := test{
			field: record.ParsePath(name), reject: texts(one, "reject"), clipped: texts(one, "clipped"), required: one.Bool("required", false),
			below: number(one, "reject-below"), above: number(one, "reject-above"),
		}
		record.CheckPath(one, "", name)
		if t.reject == nil && t.clipped == nil && t.below == nil && t.above == nil && !t.required {
			one.Faultf("", "needs reject, reject-below, reject-above, clipped or required")
		}
		all = append(all, t)
	}
	return all
}

// seen reports whether a record has the field that the test reads.
func (t *test) seen(f *record.Frame) bool {
	_, seen := f.Value(t.field)
	return seen
}

// apply returns the reason for which the test rejects the record. If the reason is [ingest.None], it returns a flag for
// the values.
func (t *test) apply(f *record.Frame) (air.Flag, ingest.Reason) {
	text, _ := f.Value(t.field)
	if text == "" {
		if t.required {
			return air.Plain, ingest.Excluded
		}
		return air.Plain, ingest.None
	}
	if has(t.reject, text) {
		return air.Plain, ingest.Excluded
	}
	if t.below != nil || t.above != nil {
		n, err := strconv.ParseFloat(f.Number(text), 64)
		if err != nil || t.below != nil && !(n >= *t.below) || t.above != nil && !(n <= *t.above) {
			return air.Plain, ingest.Excluded
		}
	}
	if has(t.clipped, text) {
		return air.Clipped, ingest.None
	}
	return air.Plain, ingest.None
}
