package httpconnector

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"vayu/internal/config"
)

// tree is the body of a request: mappings and lists, with templates and constants as leaves.
type tree struct {
	kind     yaml.Kind
	names    []string // of a mapping
	kids     []tree
	leaf     template
	constant string // JSON text of a value that is not a string, such as true
}

// tree reads the body under a key of a call.
func (f *parser) tree(n *yaml.Node, key string, fields []string) tree {
	t := tree{kind: n.Kind}
	switch n.Kind {
	case yaml.MappingNode:
		for _, p := range f.pairs(n, key) {
			t.names = append(t.names, p.name)
			t.kids = append(t.kids, f.tree(p.value, config.JoinKey(key, p.name), fields))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			t.kids = append(t.kids, f.tree(item, key+"["+strconv.Itoa(i)+"]", fields))
		}
	default:
		f.leaf(n, key, fields, &t)
	}
	return t
}

// has reports whether the body contains a field.
func (t *tree) has(field string) bool {
	return t.leaf.has(field) || slices.ContainsFunc(t.kids, func(kid tree) bool { return kid.has(field) })
}

// pairs returns the pairs of a mapping. It marks all keys as known, because any name is allowed.
func (f *parser) pairs(n *yaml.Node, key string) []pair {
	s := f.section(n, key, n.Line)
	s.known = s.Names()
	return s.pairs
}

func (f *parser) leaf(n *yaml.Node, key string, fields []string, t *tree) {
	switch n.ShortTag() {
	case "!!null":
		t.constant = "null"
	case "!!bool":
		t.constant = strings.ToLower(n.Value)
		if t.constant != "true" && t.constant != "false" { // YAML 1.1 has others, such as yes
			f.fault(n.Line, key, errors.New("write true or false, or put it in quotes"))
		}
	case "!!int", "!!float":
		if t.constant = n.Value; !isNumber(n.Value) {
			f.fault(n.Line, key, errors.New("is no number of JSON; put it in quotes if it is a text"))
		}
	default:
		t.leaf = f.template(n.Value, n.Line, key, fields)
	}
}

// appendJSON appends the body as JSON.
func (t *tree) appendJSON(b []byte, fields map[string]any) ([]byte, error) {
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
		if b, err = kid.appendJSON(b, fields); err != nil {
			return nil, err
		}
	}
	return append(b, closing), nil
}

// form returns the body as application/x-www-form-urlencoded, in the order of the file.
func (t *tree) form(fields map[string]any) ([]byte, error) {
	all := make([]named, 0, len(t.kids))
	for i, kid := range t.kids {
		if kid.constant != "" {
			kid.leaf.pieces = []piece{{text: kid.constant}}
		}
		all = append(all, named{name: t.names[i], value: kid.leaf})
	}
	text, err := encode(all, fields)
	return []byte(text), err
}

// named is a template with a name: a parameter or a header.
type named struct {
	name  string
	value template
	line  int
}

// named reads the mapping of templates under a key.
func (s *Section) named(key string, fields []string) []named {
	n := s.node(key)
	if n == nil {
		return nil
	}
	var all []named
	for _, p := range s.file.pairs(n, config.JoinKey(s.key, key)) {
		at := config.JoinKey(config.JoinKey(s.key, key), p.name)
		if p.value.Kind != yaml.ScalarNode {
			s.file.fault(p.line, at, errText)
			continue
		}
		all = append(all, named{p.name, s.file.template(p.value.Value, p.line, at, fields), p.line})
	}
	return all
}

// encode returns parameters as a query string.
func encode(all []named, fields map[string]any) (string, error) {
	var out strings.Builder
	for _, p := range all {
		if p.value.dropped(fields) {
			continue
		}
		text, err := p.value.render(fields, nil)
		if err != nil {
			return "", fmt.Errorf("parameter %q: %w", p.name, err)
		}
		if out.Len() > 0 {
			out.WriteByte('&')
		}
		out.WriteString(url.QueryEscape(p.name) + "=" + url.QueryEscape(text))
	}
	return out.String(), nil
}
