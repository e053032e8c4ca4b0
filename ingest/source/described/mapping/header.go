package mapping

import (
	"fmt"
	"slices"

	"vayu/ingest"
	"vayu/ingest/source/described/record"
	"vayu/internal/config"
)

// header checks the columns of a table before its first row, and sets the measures of the table. It drops a measure
// whose column is absent. Otherwise its values would count as missing, and the store would withdraw earlier readings.
func (s *Sink) header(names []string, columns map[string]int) error {
	for name := range columns {
		s.builder.Field(name, ingest.TextField)
	}
	if s.m.byHeader {
		if s.measures = ofHeader(names, s.m.interval); len(s.measures) == 0 {
			return ingest.BadReplyf("no column of the table has the name of a parameter")
		}
	}
	if missing := s.m.missing(names, columns); missing != "" {
		return ingest.BadReplyf("%s", missing)
	}
	if !s.m.byHeader {
		s.measures = s.m.present(columns)
	}
	return nil
}

// shownColumns is the largest number of column names in an error.
const shownColumns = 30

// lack reports whether a table has no column for any of the alternative paths. Without paths, it returns false.
func lack(columns map[string]int, paths []record.Path) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p record.Path) bool { return !p.Missing(columns) })
}

// present returns the measures whose value has a column in the table.
func (m *Mapping) present(columns map[string]int) []measure {
	return slices.DeleteFunc(slices.Clone(m.measures), func(one measure) bool { return lack(columns, one.value) })
}

// missing returns an error text about the first required field without a column, or "" if there is none. Of the fields
// that hold values, at least one must have a column; the others are then optional.
func (m *Mapping) missing(names []string, columns map[string]int) string {
	lacks := func(f *field) bool { return lack(columns, f.paths) }
	anyValue := false
	for i := range m.fields {
		anyValue = anyValue || m.fields[i].value && !lacks(&m.fields[i])
	}
	for i := range m.fields {
		f := &m.fields[i]
		if lacks(f) && (!f.value || !anyValue) && f.key != "each" && !f.loose {
			shown := names[:min(len(names), shownColumns)]
			return fmt.Sprintf("the table has no column %q (key %s): it %v", f.paths[0], f.key, config.UnknownKey(f.paths[0].String(), shown))
		}
	}
	return ""
}
