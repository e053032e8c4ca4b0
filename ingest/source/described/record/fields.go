package record

import (
	"strings"

	"github.com/tidwall/gjson"

	"vayu/ingest"
)

// Limits of the search for fields. The search examines the first records and replies of a fetch, and then one of every
// sampleEvery (16). It is therefore fast compared with the mapping of records to readings.
const (
	firstRecords = 100
	firstReplies = 10
	sampleEvery  = 16
	// deepestField is the largest number of names in a path that the search follows.
	deepestField = 8
	// listElements is how many elements of a list are examined.
	listElements = 4
	// mostNames is the largest number of names of one object that the search keeps. It bounds the memory if the names
	// are data, such as ids.
	mostNames = 500
)

// fieldTree has the known fields as a tree of their names, so that each name needs only one lookup.
type fieldTree struct {
	is    ingest.FieldType
	known bool
	below map[string]*fieldTree
}

// child returns the field with the given name, and adds it if necessary. It returns nil if the object has too many
// names.
func (t *fieldTree) child(name string) *fieldTree {
	found := t.below[name]
	if found != nil || len(t.below) >= mostNames {
		return found
	}
	if t.below == nil {
		t.below = make(map[string]*fieldTree)
	}
	found = new(fieldTree)
	t.below[strings.Clone(name)] = found
	return found
}

// Search finds the names and types of the fields of records, and passes them to Note. They form the fingerprint of a
// fetch, by which changes of the API are detected.
type Search struct {
	// Note is called for each field, and again if the field has a new type.
	Note func(path string, is ingest.FieldType)

	records, replies int // seen so far

	root fieldTree
	path []string
	skip string // path of the records in the reply, which Reply does not search
}

// value notes the type of a value, and searches inside it. The value's path is s.path, and t is its field.
func (s *Search) value(t *fieldTree, v gjson.Result) {
	is := typeOf(v)
	if !t.known || t.is|is != t.is {
		t.known, t.is = true, t.is|is
		s.Note(strings.Join(s.path, "."), is)
	}
	s.inside(t, v)
}

// inside searches the fields of an object, or the first elements of a list.
func (s *Search) inside(t *fieldTree, v gjson.Result) {
	if !v.IsObject() && !v.IsArray() || len(s.path) >= deepestField {
		return
	}
	count := 0
	isList := v.IsArray()
	v.ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		if isList {
			name = "#"
			count++
		}
		s.path = append(s.path, name)
		if s.skip == "" || strings.Join(s.path, ".") != s.skip {
			if child := t.child(name); child != nil {
				s.value(child, value)
			}
		}
		s.path = s.path[:len(s.path)-1]
		return count < listElements
	})
}

// Record searches the fields of a record, which is a JSON object or a row of a table in JSON. It ignores a table of
// text, and most records after the first ones (see sampleEvery).
func (s *Search) Record(f *Frame) {
	if s.records++; s.records > firstRecords && s.records%sampleEvery > 0 {
		return
	}
	if f.texts != nil {
		return
	}
	if f.columns == nil {
		s.inside(&s.root, f.record)
		return
	}
	for name, i := range f.columns {
		if i >= len(f.cells) {
			continue
		}
		if child := s.root.child(name); child != nil {
			s.path = append(s.path[:0], name)
			s.value(child, f.cells[i])
			s.path = s.path[:0]
		}
	}
}

// replyPrefix is the prefix of the paths of fields that are in the reply but not in its records.
const replyPrefix = "reply"

// Reply searches the fields of a JSON reply, except its records. `records` is the path of the records.
func (s *Search) Reply(reply Reply, records string) {
	if reply.body != nil {
		return
	}
	s.replies++
	if s.replies > firstReplies && s.replies%sampleEvery > 0 || strings.ContainsAny(records, `@|#*?\`) {
		return // the records are the whole reply, or are not at a plain path
	}
	s.path, s.skip = append(s.path[:0], replyPrefix), replyPrefix+"."+records
	if t := s.root.child(replyPrefix); t != nil {
		s.inside(t, reply.root)
	}
	s.path, s.skip = s.path[:0], ""
}

func typeOf(v gjson.Result) ingest.FieldType {
	switch v.Type {
	case gjson.Null:
		return ingest.NullField
	case gjson.String:
		return ingest.TextField
	case gjson.Number:
		return ingest.NumberField
	case gjson.True, gjson.False:
		return ingest.BoolField
	case gjson.JSON:
		if v.IsArray() {
			return ingest.ListField
		}
	}
	return ingest.ObjectField
}
