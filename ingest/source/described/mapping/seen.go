package mapping

import (
	"fmt"
	"slices"

	"vayu/ingest/source/described/record"
	"vayu/internal/config"
)

// Check returns an error if there was no reading and a needed field was missing in all records. The API has then
// probably renamed the field.
func (s *Sink) Check() error {
	if s.records == 0 || s.readings > 0 {
		return nil
	}
	if fields := s.m.renamed(s.looked, s.seen); fields != "" {
		return record.Refuse(fmt.Sprintf("none of %d records has the field %s; the API may have renamed it", s.records, fields))
	}
	return nil
}

func (s *Sink) noteField(field int, seen bool) {
	s.looked[field] = true
	s.seen[field] = s.seen[field] || seen
}

// renamed returns a text that lists the needed fields that no record has; "" if there are none. looked[i] is true if a
// record was searched for field i, and seen[i] is true if a record has it.
func (m *Mapping) renamed(looked, seen []bool) string {
	anyValue := false
	for i, f := range m.fields {
		anyValue = anyValue || f.value && seen[i]
	}
	text := ""
	for i, f := range m.fields {
		if !looked[i] || seen[i] || len(f.paths) == 0 || f.value && anyValue {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%q (key %s)", f.paths[0], f.key)
	}
	return text
}

// shownColumns is the largest number of column names in an error.
const shownColumns = 30

// lack reports whether a table has none of the columns to which alternative paths refer.
func lack(columns map[string]int, paths []record.Path) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p record.Path) bool { return !p.Missing(columns) })
}

// present returns those measures for whose value a table has a column.
func (m *Mapping) present(columns map[string]int) []measure {
	return slices.DeleteFunc(slices.Clone(m.measures), func(one measure) bool { return lack(columns, one.value) })
}

// missing returns an error text about the first required field that has no column in the table; "" if there is none.
// Fields with values are an exception: the table needs a column for only one of them.
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
