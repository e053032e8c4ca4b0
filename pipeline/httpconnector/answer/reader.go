package answer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"vayu/internal/config/section"
)

// Reader reads the answers to a call according to its description.
type Reader struct {
	items  string // path of the list; empty if the answer is no list
	fields []field
	ok     []int                     // accepted statuses
	byHTTP map[int]map[string]string // field values that a status implies
	bare   []int                     // statuses whose answers may have a body that is no JSON
}

// field describes how to read one field of an answer.
type field struct {
	name         string
	path         string // empty: only the HTTP status or `absent` sets the field
	mapping      map[string]string
	fallback     string // replaces an unmapped value; empty for none
	closed       bool   // an unmapped value becomes `fallback`; if that is empty, it counts as missing
	required     bool
	requiredWith map[string]string // values of other fields that make this field required
	absent       string            // value of an answer without the field; empty for none
	many         bool
}

// NewReader makes a Reader of the fields in `shape` from the section "answer" of a call or a callback.
func NewReader(s *section.Section, shape Shape) Reader {
	r := Reader{ok: []int{200, 201, 202}}
	s = s.Section("answer")
	for _, name := range slices.Sorted(maps.Keys(shape)) {
		n, want := s.Node(name), shape[name]
		f := field{name: name, required: want.Required, closed: want.Values != nil, requiredWith: want.RequiredWith, many: want.Repeated, fallback: want.Fallback}
		switch {
		case n == nil && !want.Required && !want.PathRequired && want.RequiredWith == nil:
			continue // only the key by-http can set this field
		case n == nil:
			s.Faultf(name, "is missing: the path of the field in answers")
		case n.Kind == yaml.ScalarNode:
			f.path = pathOf(s, name)
		default:
			f.read(s.Section(name), want)
		}
		if want.Values != nil && f.mapping == nil { // without a mapping, the provider's values equal ours
			f.mapping = map[string]string{}
			for _, v := range want.Values {
				f.mapping[v] = v
			}
		}
		r.fields = append(r.fields, f)
	}
	return r
}

// read reads the long form of a field: a section with the keys path, values, default and absent.
func (f *field) read(s *section.Section, want FieldShape) {
	f.path = pathOf(s, "path")
	if want.Absent != nil {
		if f.absent = s.Text("absent"); f.absent != "" {
			s.Allowed("absent", f.absent, want.Absent)
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
		values.Allowed(e.Name, e.Text, want.Values)
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
		s.Allowed("default", f.fallback, want.Defaults)
	}
}

// pathOf returns the value of a key that is a path into a JSON answer; empty if the key is absent.
func pathOf(s *section.Section, key string) string {
	text := s.Text(key)
	if strings.ContainsAny(text, "\n\r\x00") || len(text) > 200 {
		s.Faultf(key, "is not a path")
	}
	return text
}

// NewCallReader makes a Reader from the section of a call: from "answer" and the keys for HTTP
// statuses. If the call returns a list, it also reads the path of the items.
func NewCallReader(s *section.Section, shape Shape, list bool) Reader {
	r := NewReader(s, shape)
	r.readStatuses(s, shape)
	if list {
		r.items = pathOf(s, "items")
		if r.items == "" {
			s.Faultf("items", "is missing: the path of the list in the answer; @this if the answer is the list")
		}
	}
	return r
}

// readStatuses reads what HTTP statuses mean: the keys ok-http, bare-http and by-http.
func (r *Reader) readStatuses(s *section.Section, shape Shape) {
	statuses := func(key string) []int {
		var all []int
		for _, e := range s.List(key) {
			n, err := status(e.Text)
			if err != nil {
				s.FaultAt(e.Line, key, err)
				continue
			}
			all = append(all, n)
		}
		return all
	}
	if s.Node("ok-http") != nil {
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
				one.Faultf(e.Name, "is unknown; known here: %s", strings.Join(slices.Sorted(maps.Keys(shape)), ", "))
				continue
			}
			if want.Repeated {
				one.Faultf(e.Name, "cannot be set by a status")
			}
			one.Allowed(e.Name, e.Text, want.Values)
			r.byHTTP[n][e.Name] = e.Text
		}
	}
	for _, n := range r.bare {
		if r.byHTTP[n] == nil {
			s.Faultf("bare-http", "%d must be a key of by-http, which defines its meaning", n)
		}
	}
}

// status parses an HTTP status for which a description can define a meaning. It rejects 5xx,
// because the outcome of the request is unknown then, and 3xx, because redirects are not followed.
func status(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 200 || n > 499 || n/100 == 3 {
		return 0, fmt.Errorf("%s must be an HTTP status of 200–299 or 400–499: after any other status the outcome of a request is unknown", quoteForLog(text))
	}
	return n, nil
}
