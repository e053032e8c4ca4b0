package record

import (
	"strings"

	"github.com/tidwall/gjson"

	"vayu/ingest"
)

// Limits of the search for fields. The first records and replies of a fetch are searched, and then one of
// sampleEvery, so that the search costs little beside the mapping.
const (
	firstRecords = 100
	firstReplies = 10
	sampleEvery  = 16
	// deepestField is the largest number of names in a path.
	deepestField = 8
	// listElements is how many elements of a list are searched.
	listElements = 4
	// mostNames bounds the memory of an object whose names are data.
	mostNames = 500
)

// fieldTree has the fields that were found, so that a known field costs one lookup.
type fieldTree struct {
	is    ingest.FieldType
	known bool
	below map[string]*fieldTree
}

// child returns the field with a name; nil if the object has too many names.
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

// Search finds the fields of records for the fingerprint of a fetch.
type Search struct {
	// Note is called for each new field or type.
	Note func(path string, is ingest.FieldType)

	records, replies int // seen so far

	root fieldTree
	path []string
	skip string // path of the records in the reply, which is not searched
}

// value searches a value that has the name of the last element of s.path.
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

// Record searches the fields of a record: of an object, or of the row of a table.
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

// replyPrefix begins the paths of the reply outside its records, as in descriptions.
const replyPrefix = "reply"

// Reply searches the reply outside its records, which lie at a path.
func (s *Search) Reply(reply Reply, records string) {
	if reply.body != nil {
		return
	}
	s.replies++
	if s.replies > firstReplies && s.replies%sampleEvery > 0 || strings.ContainsAny(records, `@|#*?\`) {
		return // the records are the reply, or their position is not a plain path
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
