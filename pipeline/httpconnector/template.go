package httpconnector

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/schema"
)

// template is a text with fields: "{number}", "order {reference}". Literal braces are doubled.
type template struct {
	pieces []piece
}

type piece struct {
	text     string // literal, when field is empty
	field    string
	format   string // text, number, or empty for the field's type
	optional bool
}

// fieldPattern matches a field in braces: a name, ? to omit an empty field, and a format.
var fieldPattern = regexp.MustCompile(`^\{([a-z][a-z_]*)(\?)?(?::(text|number))?\}`)

var errBrace = errors.New(`a brace begins a field: {name}, {name?}, {name:text} or {name:number}; write {{ or }} for a brace itself`)

// template parses a template; fields are the usable names.
func (f *parser) template(text string, line int, key string, fields []string) template {
	var t template
	literal := func(s string) {
		if last := len(t.pieces) - 1; last >= 0 && t.pieces[last].field == "" {
			t.pieces[last].text += s
		} else {
			t.pieces = append(t.pieces, piece{text: s})
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
				f.fault(line, key, errDollar)
				return t
			}
			literal(text[1 : end+1])
			text = text[end+1:]
		case strings.HasPrefix(text, "${"):
			value, length := f.lookup(text, line, key)
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
				f.fault(line, key, errBrace)
				return t
			}
			if !slices.Contains(fields, m[1]) {
				f.fault(line, key, fmt.Errorf("{%s} is unknown; known here: %s", m[1], strings.Join(fields, ", ")))
			}
			t.pieces = append(t.pieces, piece{field: m[1], optional: m[2] != "", format: m[3]})
			text = text[len(m[0]):]
		}
	}
	return t
}

// has reports whether the template contains a field.
func (t template) has(field string) bool {
	return slices.ContainsFunc(t.pieces, func(p piece) bool { return p.field == field })
}

// dropped reports whether the template is a single optional field that is empty, and so is omitted.
func (t template) dropped(fields map[string]any) bool {
	if len(t.pieces) != 1 || !t.pieces[0].optional {
		return false
	}
	text, err := textOf(fields[t.pieces[0].field], "")
	return err != nil || text == ""
}

// render returns the text with its fields. escape, unless nil, is applied to each.
func (t template) render(fields map[string]any, escape func(string) (string, error)) (string, error) {
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

// appendJSON writes the template as a JSON value. A single field keeps its type; everything
// else is text.
func (t template) appendJSON(b []byte, fields map[string]any) ([]byte, error) {
	text, err := t.render(fields, nil)
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
	errNumber = errors.New("is no number")
)

// textOf returns a value as text. An amount is in rupees: 199.5, or 199.50 with the format "text".
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

// twoDecimals formats rupees with two decimals: 199.00.
func twoDecimals(p schema.Paise) string {
	text := p.String()
	whole, decimals, _ := strings.Cut(text, ".")
	return whole + "." + (decimals + "00")[:2]
}

func isNumber(text string) bool {
	return text != "" && strings.TrimSpace(text) == text && jsontext.Value(text).Kind() == '0' && jsontext.Value(text).IsValid()
}
