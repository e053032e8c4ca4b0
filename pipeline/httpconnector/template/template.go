// Package template builds the path, parameters, headers and body of a request. It inserts the
// fields of a call into the texts of a description file.
package template

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"vayu/internal/config/section"
	"vayu/schema"
)

// Template is a text with fields in braces: "order {reference}". A literal brace is doubled.
type Template struct {
	pieces []piece
}

type piece struct {
	text     string // literal text, if field is empty
	field    string
	format   string // text, number, or empty for the field's type
	optional bool
}

// fieldPattern matches {name}, {name?} (omitted if empty), and a format such as {name:text}.
var fieldPattern = regexp.MustCompile(`^\{([a-z][a-z_]*)(\?)?(?::(text|number))?\}`)

var errBrace = errors.New(`a brace begins a field: {name}, {name?}, {name:text} or {name:number}; write {{ or }} for a brace itself`)

// Read reads the Template under a key. It returns false if the key is absent, or its value is a list or a mapping.
func Read(s *section.Section, key string, fields []string) (Template, bool) {
	n := s.Node(key)
	if n == nil || n.Kind != yaml.ScalarNode {
		return Template{}, false
	}
	return parse(s, n.Value, n.Line, key, fields), true
}

// parse parses a template. `fields` are the names of fields that the template may use.
func parse(s *section.Section, text string, line int, key string, fields []string) Template {
	var t Template
	literal := func(part string) {
		if last := len(t.pieces) - 1; last >= 0 && t.pieces[last].field == "" {
			t.pieces[last].text += part
		} else {
			t.pieces = append(t.pieces, piece{text: part})
		}
	}
	for text != "" {
		next := strings.IndexAny(text, "{}$")
		if next != 0 {
			if next < 0 {
				next = len(text)
			}
			literal(text[:next])
			text = text[next:]
			continue
		}
		switch {
		case strings.HasPrefix(text, "$${"):
			end := strings.IndexByte(text, '}')
			if end < 0 {
				s.FaultAt(line, key, section.ErrDollar)
				return t
			}
			literal(text[1 : end+1])
			text = text[end+1:]
		case strings.HasPrefix(text, "${"):
			value, length := s.Lookup(text, line, key)
			if length == 0 {
				return t
			}
			literal(value)
			text = text[length:]
		case text[0] == '$':
			literal("$")
			text = text[1:]
		case strings.HasPrefix(text, "{{"), strings.HasPrefix(text, "}}"):
			literal(text[:1])
			text = text[2:]
		default:
			m := fieldPattern.FindStringSubmatch(text)
			if m == nil {
				s.FaultAt(line, key, errBrace)
				return t
			}
			if !slices.Contains(fields, m[1]) {
				s.FaultAt(line, key, fmt.Errorf("{%s} is unknown; known here: %s", m[1], strings.Join(fields, ", ")))
			}
			t.pieces = append(t.pieces, piece{field: m[1], optional: m[2] != "", format: m[3]})
			text = text[len(m[0]):]
		}
	}
	return t
}

// Field returns a template that consists of one field.
func Field(name string) Template { return Template{pieces: []piece{{field: name}}} }

// Has reports whether the template uses a field.
func (t Template) Has(field string) bool {
	return slices.ContainsFunc(t.pieces, func(p piece) bool { return p.field == field })
}

// dropped reports whether the template is omitted: its only field is optional and empty.
func (t Template) dropped(fields map[string]any) bool {
	if len(t.pieces) != 1 || !t.pieces[0].optional {
		return false
	}
	return !HasText(fields[t.pieces[0].field])
}

// HasText reports whether the text of a value is not empty.
func HasText(v any) bool {
	text, err := textOf(v, "")
	return err == nil && text != ""
}

// Render inserts the values of `fields`. A missing value is an error. Unless `escape` is nil, it is applied to values.
func (t Template) Render(fields map[string]any, escape func(string) (string, error)) (string, error) {
	var out strings.Builder
	for _, p := range t.pieces {
		if p.field == "" {
			out.WriteString(p.text)
			continue
		}
		text, err := textOf(fields[p.field], p.format)
		if err == nil && escape != nil {
			text, err = escape(text)
		}
		if err != nil {
			return "", fmt.Errorf("field %q: %w", p.field, err)
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// appendJSON appends the template as a JSON value. A template that consists of one field keeps the field's type, or
// gets the type of its format. Otherwise the value is a string.
func (t Template) appendJSON(b []byte, fields map[string]any) ([]byte, error) {
	text, err := t.Render(fields, nil)
	if err != nil {
		return nil, err
	}
	if len(t.pieces) == 1 && t.pieces[0].field != "" && t.pieces[0].format != "text" {
		_, isText := fields[t.pieces[0].field].(string)
		if !isText || t.pieces[0].format == "number" {
			return append(b, text...), nil
		}
	}
	return jsontext.AppendQuote(b, text)
}

var (
	errAbsent = errors.New("there is none")
	errNumber = errors.New("is not a number")
)

// textOf returns a value as text. An amount is in rupees: 199.50 in the format "text", 199.5 in every other format.
func textOf(v any, format string) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", errAbsent
	case string:
		if format == "number" && !isNumber(v) {
			return "", errNumber
		}
		return v, nil
	case schema.Paise:
		if format == "text" {
			return twoDecimals(v), nil
		}
		return v.String(), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case bool:
		return strconv.FormatBool(v), nil
	default:
		return "", fmt.Errorf("has the type %T", v)
	}
}

// twoDecimals returns an amount in rupees with two decimals, such as 199.00.
func twoDecimals(p schema.Paise) string {
	text := p.String()
	whole, decimals, _ := strings.Cut(text, ".")
	return whole + "." + (decimals + "00")[:2]
}

func isNumber(text string) bool {
	return text != "" && strings.TrimSpace(text) == text && jsontext.Value(text).Kind() == '0' && jsontext.Value(text).IsValid()
}
