package apidoc

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// value is a JSON value that keeps the order of its members. A nil *value stands for an absent one, which has
// no members, items or text.
type value struct {
	kind    kind
	members []member
	items   []*value
	raw     json.RawMessage // a scalar as JSON
}

type member struct {
	name  string
	value *value
}

type kind uint8

const (
	scalar kind = iota
	list
	object
)

func text(s string) *value {
	raw, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD")) // invalid UTF-8 would be the only error
	return &value{kind: scalar, raw: json.RawMessage(raw)}
}

// set sets the member name to a value. It appends the member if it is new.
func (v *value) set(name string, to *value) {
	for i := range v.members {
		if v.members[i].name == name {
			v.members[i].value = to
			return
		}
	}
	v.members = append(v.members, member{name, to})
}

// at returns the value at a path of member names; nil if a member is missing.
func (v *value) at(names ...string) *value {
	for _, name := range names {
		var next *value
		for _, m := range v.fields() {
			if m.name == name {
				next = m.value
			}
		}
		v = next
	}
	return v
}

func (v *value) fields() []member {
	if v == nil {
		return nil
	}
	return v.members
}

func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.items
}

// text returns a string without quotes, or another scalar as JSON. For other values it returns "".
func (v *value) text() string {
	if v == nil || v.kind != scalar {
		return ""
	}
	var s string
	if json.Unmarshal(v.raw, &s) == nil && v.raw[0] == '"' {
		return s
	}
	return string(v.raw)
}

// reference resolves the $ref of v within the document root, and returns the last part of the reference as
// name. Without $ref, it returns v and "".
func (v *value) reference(root *value) (target *value, name string) {
	pointer, ok := strings.CutPrefix(v.at("$ref").text(), "#/")
	if !ok {
		return v, ""
	}
	names := strings.Split(pointer, "/")
	for i, n := range names {
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(n)
	}
	return root.at(names...), names[len(names)-1]
}

// json appends v as JSON without blanks.
func (v *value) json(b []byte) []byte {
	switch v.kind {
	case object:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, text(m.name).raw...)
			b = append(b, ':')
			b = m.value.json(b)
		}
		return append(b, '}')
	case list:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.json(b)
		}
		return append(b, ']')
	default:
		return append(b, v.raw...)
	}
}
