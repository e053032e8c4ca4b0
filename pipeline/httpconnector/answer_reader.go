package httpconnector

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vayu/internal/config"
)

// answerReader reads the answers of a call.
type answerReader struct {
	items  string // path of the list; empty if the answer is no list
	fields []field
	ok     []int                     // accepted statuses
	byHTTP map[int]map[string]string // field values that a status implies
	bare   []int                     // statuses whose answers need no JSON
}

// field is one field of an answer.
type field struct {
	name         string
	path         string // empty: only a status sets it
	mapping      map[string]string
	fallback     string // for an unmapped value; empty for none
	closed       bool   // an unmapped value becomes fallback, or else counts as missing
	required     bool
	requiredWith map[string]string // values of other fields that make it required
	absent       string            // value of an answer without the field; empty for none
	many         bool
}

// reading reads the section "answer" of a call or a callback.
func (s *Section) reading(shape AnswerShape) answerReader {
	r := answerReader{ok: []int{200, 201, 202}}
	answer := s.Section("answer")
	for _, name := range namesOf(shape) {
		n, want := answer.node(name), shape[name]
		f := field{name: name, required: want.Required, closed: want.Values != nil, requiredWith: want.RequiredWith, many: want.Repeated, fallback: want.Fallback}
		switch {
		case n == nil && !want.Required && !want.PathRequired && want.RequiredWith == nil:
			continue // only an HTTP status can set it, under by-http
		case n == nil:
			answer.file.fault(answer.line, config.JoinKey(config.JoinKey(s.key, "answer"), name), fmt.Errorf("is missing: the path of the field in answers"))
		case n.Kind == yaml.ScalarNode:
			f.path = answer.place(name)
		default:
			answer.Section(name).field(&f, want)
		}
		if want.Values != nil && f.mapping == nil { // the provider's values equal ours
			f.mapping = map[string]string{}
			for _, v := range want.Values {
				f.mapping[v] = v
			}
		}
		r.fields = append(r.fields, f)
	}
	return r
}

// field reads the long form of a field: a section with path, values and default.
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
	if values.Present() {
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
		s.Faultf("default", "is not allowed here: an unmapped value has no meaning")
	default:
		s.allowed("default", f.fallback, want.Defaults)
	}
}

// allowed reports a fault of a key unless its value is one of several; nil allows any.
func (s *Section) allowed(key, value string, of []string) {
	if of != nil && !slices.Contains(of, value) {
		s.Faultf(key, "must be %s", oneOf(of))
	}
}

// readStatuses reads the meaning of HTTP statuses: the keys ok-http, bare-http and by-http.
func (r *answerReader) readStatuses(s *Section, shape AnswerShape) {
	statuses := func(key string) []int {
		var all []int
		for _, e := range s.List(key) {
			n, err := status(e.Text)
			if err != nil {
				s.file.fault(e.line, config.JoinKey(s.key, key), err)
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
			if want.Repeated {
				one.Faultf(e.Name, "cannot be set by a status")
			}
			one.allowed(e.Name, e.Text, want.Values)
			r.byHTTP[n][e.Name] = e.Text
		}
	}
	for _, n := range r.bare {
		if r.byHTTP[n] == nil {
			s.Faultf("bare-http", "%d must be a key of by-http, which defines its meaning", n)
		}
	}
}
