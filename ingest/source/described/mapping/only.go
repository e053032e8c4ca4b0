package mapping

import (
	"slices"

	"vayu/ingest/source/described/record"
	"vayu/internal/config/section"
)

// filter selects the records in which a field has an accepted value. Other records are skipped, and do not count as
// rejected.
type filter struct {
	field    []record.Path
	accepted []string
	mapped   int // index of the field in Mapping.fields
}

// readOnly reads the section `only`, whose keys are paths.
func (m *Mapping) readOnly(s *section.Section) {
	for _, name := range s.Names() {
		record.CheckPath(s, name, name)
		one := filter{field: []record.Path{record.ParsePath(name)}, accepted: texts(s, name)}
		if len(one.accepted) == 0 {
			s.Faultf(name, "needs the accepted values")
		}
		one.mapped = m.need("only", one.field, false)
		m.only = append(m.only, one)
	}
}

// wanted reports whether a record has an accepted value in the field of every filter.
func (s *Sink) wanted(f *record.Frame) bool {
	for i := range s.m.only {
		one := &s.m.only[i]
		text, seen := f.Text(one.field)
		s.noteField(one.mapped, seen)
		if !slices.Contains(one.accepted, text) {
			return false
		}
	}
	return true
}
