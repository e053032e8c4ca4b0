package mapping

import (
	"fmt"

	"vayu/ingest"
)

// Check returns an error if the records gave no reading, and at least one of the needed fields was in no record. The
// API has then probably renamed that field.
func (s *Sink) Check() error {
	if s.records == 0 || s.readings > 0 {
		return nil
	}
	if fields := s.m.renamed(s.looked, s.seen); fields != "" {
		return ingest.BadReplyf("none of %d records has the field %s; the API may have renamed it", s.records, fields)
	}
	return nil
}

func (s *Sink) noteField(field int, seen bool) {
	s.looked[field] = true
	s.seen[field] = s.seen[field] || seen
}

// renamed lists, as text, the needed fields that no record has; "" for none. Of the fields with values, one suffices.
// looked[i] is true if any record was searched for field i, and seen[i] is true if any record has it.
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
