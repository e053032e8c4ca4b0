package httpconnector

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// answerReader is how an answer is read.
type answerReader struct {
	items  string // where the list stands; empty when the answer is none
	fields []field
	ok     []int                     // statuses whose answers count
	byHTTP map[int]map[string]string // fields that a status decides
	bare   []int                     // statuses that need no JSON
}

// field is one field of an answer.
type field struct {
	name         string
	path         string // empty: only a status says it
	mapping      map[string]string
	fallback     string // for a word that is not mapped; empty for none
	closed       bool   // what is not mapped is not understood
	required     bool
	requiredWith map[string]string // values of other fields with which it is needed
	absent       string            // what an answer without it means; empty for nothing
	many         bool
}

// answerReader reads the key answer of a call or a callback.
func (s *Section) reading(shape AnswerShape) answerReader {
	r := answerReader{ok: []int{200, 201, 202}}
	answer := s.Section("answer")
	for _, name := range namesOf(shape) {
		n, want := answer.node(name), shape[name]
		f := field{name: name, required: want.Needed, closed: want.Values != nil, requiredWith: want.NeededWith, many: want.Many, fallback: want.Rest}
		switch {
		case n == nil && !want.Needed && !want.Stated && want.NeededWith == nil:
			continue // only by-http can say it
		case n == nil:
			answer.file.fault(answer.line, join(join(s.key, "answer"), name), fmt.Errorf("is missing: where the answer says it"))
		case n.Kind == yaml.ScalarNode:
			f.path = answer.place(name)
		default:
			answer.Section(name).field(&f, want)
		}
		if want.Values != nil && f.mapping == nil { // its words are ours
			f.mapping = map[string]string{}
			for _, v := range want.Values {
				f.mapping[v] = v
			}
		}
		r.fields = append(r.fields, f)
	}
	return r
}

// field reads the long form: path, values and default.
func (s *Section) field(f *field, want FieldShape) {
	f.path = s.place("path")
	if want.Absent != nil {
		if f.absent = s.Text("absent"); f.absent != "" {
			s.allowed("absent", f.absent, want.Absent)
		}
	}
	if f.path == "" && f.absent == "" {
		s.Faultf("path", "is missing")
	}
	values := s.Section("values")
	if values.Given() {
		f.mapping = map[string]string{}
		f.closed = true
	}
	for _, e := range values.Entries() {
		f.mapping[e.Name] = e.Text
		values.allowed(e.Name, e.Text, want.Values)
	}
	fallback := s.Text("default")
	if fallback == "" {
		return
	}
	f.fallback = fallback
	switch {
	case want.Values == nil:
	case len(want.Defaults) == 0:
		s.Faultf("default", "there is none here: a word that nobody knows says nothing")
	default:
		s.allowed("default", f.fallback, want.Defaults)
	}
}

// allowed checks a value that words are mapped to.
func (s *Section) allowed(key, value string, of []string) {
	if of != nil && !slices.Contains(of, value) {
		s.Faultf(key, "must be %s", oneOf(of))
	}
}

// readStatuses reads what HTTP statuses mean.
func (r *answerReader) readStatuses(s *Section, shape AnswerShape) {
	statuses := func(key string) []int {
		var all []int
		for _, e := range s.List(key) {
			n, err := status(e.Text)
			if err != nil {
				s.file.fault(e.line, join(s.key, key), err)
				continue
			}
			all = append(all, n)
		}
		return all
	}
	if s.node("ok-http") != nil {
		r.ok = statuses("ok-http")
	}
	r.bare = statuses("bare-http")
	r.byHTTP = map[int]map[string]string{}
	by := s.Section("by-http")
	for _, name := range by.Names() {
		one := by.Section(name)
		n, err := status(name)
		if err != nil {
			by.Faultf(name, "%w", err)
		}
		r.byHTTP[n] = map[string]string{}
		for _, e := range one.Entries() {
			want, known := shape[e.Name]
			if !known {
				one.Faultf(e.Name, "is unknown; known here: %s", strings.Join(namesOf(shape), ", "))
				continue
			}
			if want.Many {
				one.Faultf(e.Name, "is nothing that a status can say")
			}
			one.allowed(e.Name, e.Text, want.Values)
			r.byHTTP[n][e.Name] = e.Text
		}
	}
	for _, n := range r.bare {
		if r.byHTTP[n] == nil {
			s.Faultf("bare-http", "%d must stand under by-http, which says what it means", n)
		}
	}
}
