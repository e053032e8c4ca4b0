package mapping

import (
	"fmt"
	"slices"

	"vayu/ingest/source/described/record"
	"vayu/internal/config"
)

// Check returns an error if no record gave a reading and no record has some needed field. The API has then probably
// renamed the field.
func (s *Sink) Check() error {
	if s.records == 0 || s.readings > 0 {
		return nil
	}
	if fields := s.m.renamed(s.looked, s.seen); fields != "" {
		return record.Refuse(fmt.Sprintf("none of %d records has the field %s; the API may have renamed it", s.records, fields))
	}
	return nil
}

func (s *Sink) look(field int, seen bool) {
	s.looked[field] = true
	s.seen[field] = s.seen[field] || seen
}

// renamed returns a text with the needed fields that no record has; "" if there are none. looked[i] is true if records
// were searched for field i, and seen[i] is true if a record has it.
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

// shownColumns is the largest number of columns that an error lists.
const shownColumns = 30

// lack reports whether a table lacks all columns of alternative paths.
func lack(columns map[string]int, paths []record.Path) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p record.Path) bool { return !p.Missing(columns) })
}

// present returns the measures whose value has a column in a table.
func (m *Mapping) present(columns map[string]int) []measure {
	return slices.DeleteFunc(slices.Clone(m.measures), func(one measure) bool { return lack(columns, one.value) })
}

// missing returns an error text for the first needed field that has no column in a table; "" if there is none. Of the
// columns with values of parameters, a table needs at least one.
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
