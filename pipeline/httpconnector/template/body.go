package template

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"vayu/internal/config"
	"vayu/internal/config/section"
)

// Body is a template of a request's body: mappings and lists, with text templates and constants.
type Body struct {
	kind     yaml.Kind
	names    []string // keys of a mapping, nil for a list
	kids     []Body
	leaf     Template
	constant string // JSON text of a value that is not a string, such as true
}

// ReadBody reads the body under a key; nil if it is absent. Templates may use the given fields.
func ReadBody(s *section.Section, key string, fields []string) *Body {
	n := s.Node(key)
	if n == nil {
		return nil
	}
	t := newBody(s, n, key, fields)
	if n.Kind == yaml.ScalarNode {
		s.Faultf(key, "must be a mapping or a list")
	}
	return &t
}

func newBody(s *section.Section, n *yaml.Node, key string, fields []string) Body {
	t := Body{kind: n.Kind}
	switch n.Kind {
	case yaml.MappingNode:
		for _, p := range s.Pairs(key, n) {
			t.names = append(t.names, p.Name)
			t.kids = append(t.kids, newBody(s, p.Value, config.JoinKey(key, p.Name), fields))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			t.kids = append(t.kids, newBody(s, item, key+"["+strconv.Itoa(i)+"]", fields))
		}
	default:
		t.readLeaf(s, n, key, fields)
	}
	return t
}

// IsFlat reports whether the body is a mapping of single values, so that it can be sent as a form.
func (t *Body) IsFlat() bool {
	return t.kind == yaml.MappingNode && !slices.ContainsFunc(t.kids, func(kid Body) bool { return kid.kind != yaml.ScalarNode })
}

// Has reports whether any template in the body uses a field.
func (t *Body) Has(field string) bool {
	return t.leaf.Has(field) || slices.ContainsFunc(t.kids, func(kid Body) bool { return kid.Has(field) })
}

func (t *Body) readLeaf(s *section.Section, n *yaml.Node, key string, fields []string) {
	switch n.ShortTag() {
	case "!!null":
		t.constant = "null"
	case "!!bool":
		t.constant = strings.ToLower(n.Value)
		if t.constant != "true" && t.constant != "false" { // YAML 1.1 has other booleans, such as yes
			s.FaultAt(n.Line, key, errors.New("write true or false, or put it in quotes"))
		}
	case "!!int", "!!float":
		if t.constant = n.Value; !isNumber(n.Value) {
			s.FaultAt(n.Line, key, errors.New("is not a JSON number; put it in quotes if it is text"))
		}
	default:
		t.leaf = parse(s, n.Value, n.Line, key, fields)
	}
}

// AppendJSON appends the body as JSON. It omits an element that is a single optional field without a value.
func (t *Body) AppendJSON(b []byte, fields map[string]any) ([]byte, error) {
	if t.kind == yaml.ScalarNode {
		if t.constant != "" {
			return append(b, t.constant...), nil
		}
		return t.leaf.appendJSON(b, fields)
	}
	opening, closing := byte('['), byte(']')
	if t.kind == yaml.MappingNode {
		opening, closing = '{', '}'
	}
	b = append(b, opening)
	first := true
	for i := range t.kids {
		kid := &t.kids[i]
		if kid.constant == "" && kid.leaf.dropped(fields) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		var err error
		if t.kind == yaml.MappingNode {
			if b, err = jsontext.AppendQuote(b, t.names[i]); err != nil {
				return nil, err
			}
			b = append(b, ':')
		}
		if b, err = kid.AppendJSON(b, fields); err != nil {
			return nil, err
		}
	}
	return append(b, closing), nil
}

// Form returns the body as application/x-www-form-urlencoded, in the order of the description.
func (t *Body) Form(fields map[string]any) ([]byte, error) {
	all := make([]Param, 0, len(t.kids))
	for i, kid := range t.kids {
		if kid.constant != "" {
			kid.leaf.pieces = []piece{{text: kid.constant}}
		}
		all = append(all, Param{Name: t.names[i], Value: kid.leaf})
	}
	text, err := Encode(all, fields)
	return []byte(text), err
}

// Param is a query parameter or a header: a name, and a template for the value.
type Param struct {
	Name  string
	Value Template
}

// ReadParams reads the mapping of names to templates under a key. The templates may use the given fields.
func ReadParams(s *section.Section, key string, fields []string) []Param {
	n := s.Node(key)
	if n == nil {
		return nil
	}
	var all []Param
	for _, p := range s.Pairs(key, n) {
		at := config.JoinKey(key, p.Name)
		if p.Value.Kind != yaml.ScalarNode {
			s.FaultAt(p.Line, at, section.ErrText)
			continue
		}
		all = append(all, Param{p.Name, parse(s, p.Value.Value, p.Line, at, fields)})
	}
	return all
}

// Encode renders parameters as a query string. It omits a parameter that is a single optional field without a value.
func Encode(all []Param, fields map[string]any) (string, error) {
	var out strings.Builder
	for _, p := range all {
		if p.Value.dropped(fields) {
			continue
		}
		text, err := p.Value.Render(fields, nil)
		if err != nil {
			return "", fmt.Errorf("parameter %q: %w", p.Name, err)
		}
		if out.Len() > 0 {
			out.WriteByte('&')
		}
		out.WriteString(url.QueryEscape(p.Name) + "=" + url.QueryEscape(text))
	}
	return out.String(), nil
}
