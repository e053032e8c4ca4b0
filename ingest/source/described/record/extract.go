package record

import (
	"slices"

	"vayu/ingest/source/described/pattern"
	"vayu/internal/config/section"
)

// Extract defines fields that a pattern extracts from the text of another field.
type Extract struct {
	from    Path
	pattern *pattern.Pattern
}

// ReadExtracts reads the section `extract`. Its keys are paths, and its values are patterns such as "{name}-{number}".
func ReadExtracts(s *section.Section) []Extract {
	var all []Extract
	var names []string
	for _, e := range s.Entries() {
		CheckPath(s, e.Name, e.Name)
		p, err := pattern.Text(e.Text)
		if err != nil {
			s.FaultAt(e.Line, e.Name, err)
			continue
		}
		for _, name := range p.Fields() {
			if slices.Contains(names, name) {
				s.Faultf(e.Name, "another pattern has the field {%s}, too", name)
			}
			names = append(names, name)
		}
		from := ParsePath(e.Name)
		if from.scope == ofExtract {
			s.Faultf(e.Name, "must not be a field of extract")
		}
		all = append(all, Extract{from, p})
	}
	return all
}

// ExtractedNames returns the names of the fields that the patterns extract.
func ExtractedNames(all []Extract) []string {
	var names []string
	for _, e := range all {
		names = append(names, e.pattern.Fields()...)
	}
	return names
}

// Extracts extracts the fields in the records of one fetch. Consecutive records often have the same text, so it caches
// the last text of each pattern with its fields.
type Extracts struct {
	all  []Extract
	last []parts
}

// parts is a text with the fields that a pattern extracts from it. `fields` is nil if the pattern does not match.
type parts struct {
	text   string
	fields map[string]string
}

// NewExtracts returns Extracts for one fetch.
func NewExtracts(all []Extract) *Extracts { return &Extracts{all, make([]parts, len(all))} }

// field returns the extracted field `name` of a record. `exists` is false if no pattern has a field with this name, or
// the pattern does not match the text in the record.
func (x *Extracts) field(f *Frame, name string) (text string, exists bool) {
	if x == nil {
		return "", false
	}
	for i := range x.all {
		one := &x.all[i]
		if !slices.Contains(one.pattern.Fields(), name) {
			continue
		}
		text, _ := f.Value(one.from)
		if last := &x.last[i]; last.text != text {
			fields, _ := one.pattern.Match(text)
			*last = parts{text, fields}
		}
		text, exists = x.last[i].fields[name]
		return text, exists
	}
	return "", false
}
