package record

import (
	"slices"

	"vayu/ingest/source/described/pattern"
	"vayu/internal/config/section"
)

// Extract defines how fields are extracted from the text of another field, with a pattern.
type Extract struct {
	from    Path
	pattern *pattern.Pattern
}

// ReadExtracts reads the section extract, whose keys are paths and whose values are
// patterns such as "{name}-{number}".
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

// ExtractedNames returns the names of the fields in all patterns.
func ExtractedNames(all []Extract) []string {
	var names []string
	for _, e := range all {
		names = append(names, e.pattern.Fields()...)
	}
	return names
}

// Extracts extracts fields from the texts of a fetch. Consecutive records often have the same text, so Extracts keeps
// the result of each pattern's last text.
type Extracts struct {
	all  []Extract
	last []parts
}

// parts has the fields that were extracted from a text; fields is nil if the pattern does not match.
type parts struct {
	text   string
	fields map[string]string
}

// NewExtracts returns an extractor for one fetch.
func NewExtracts(all []Extract) *Extracts { return &Extracts{all, make([]parts, len(all))} }

// field returns an extracted field of a record. exists is false if the pattern does not match the text.
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
