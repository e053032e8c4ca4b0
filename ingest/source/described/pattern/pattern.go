// Package pattern matches texts, such as names of files, with patterns that capture fields:
// "location-{location}-{yyyy}{mm}{dd}.csv.gz".
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Pattern matches whole texts. In the text of a pattern, * stands for any characters. {field} stands for one or more
// characters, which the pattern captures. A Pattern is immutable.
type Pattern struct {
	expression *regexp.Regexp
	fields     []string
}

// Limits of one pattern: the length of its text, and the number of its fields.
const (
	mostBytes  = 500
	mostFields = 20
)

// dates maps the fields of a date to regular expressions that match their digits.
var dates = map[string]string{"yyyy": `\d{4}`, "mm": `\d{2}`, "dd": `\d{2}`, "HH": `\d{2}`}

// Dates are the fields of a date, from the largest unit to the smallest.
var Dates = []string{"yyyy", "mm", "dd", "HH"}

var fieldName = regexp.MustCompile(`^[a-z][a-z0-9_]*$|^HH$`)

// Text returns a pattern for any text. If two fields could match the same characters, the first field captures them.
func Text(text string) (*Pattern, error) { return compile(text, ".+", ".*") }

// Path returns a pattern for paths with slashes. Neither * nor a field matches a slash, but **/ matches any number of
// folders. A pattern without a slash matches the last part of a path.
func Path(text string) (*Pattern, error) {
	if text != "" && !strings.Contains(text, "/") {
		text = "**/" + text
	}
	return compile(text, "[^/]+", "[^/]*")
}

func compile(text, field, star string) (*Pattern, error) {
	if text == "" || len(text) > mostBytes || strings.ContainsAny(text, "\n\r\x00") {
		return nil, fmt.Errorf("must be a pattern of 1 to %d bytes, such as station-{station}.csv", mostBytes)
	}
	p := &Pattern{}
	var out strings.Builder
	out.WriteString(`^(?s:`)
	rest := text
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, "**/"):
			out.WriteString(`(?:.*/)?`)
			rest = rest[3:]
		case rest[0] == '*':
			out.WriteString(star)
			rest = rest[1:]
		case rest[0] == '{':
			name, after, found := strings.Cut(rest[1:], "}")
			if !found || !fieldName.MatchString(name) {
				return nil, errors.New("{ must be followed by a name of lower-case letters and }")
			}
			rest = after
			if err := p.field(&out, name, field); err != nil {
				return nil, err
			}
		case rest[0] == '}':
			return nil, errors.New("} has no { before it")
		default:
			end := strings.IndexAny(rest, "*{}")
			if end < 0 {
				end = len(rest)
			}
			out.WriteString(regexp.QuoteMeta(rest[:end]))
			rest = rest[end:]
		}
	}
	out.WriteString(`)$`)
	if len(p.fields) > mostFields {
		return nil, fmt.Errorf("has more than %d fields", mostFields)
	}
	var err error
	p.expression, err = regexp.Compile(out.String())
	return p, err
}

// field writes the regular expression of a field. A date field may occur twice, for example {yyyy} in a folder and in
// the name of a file. In practice both are the same date. Therefore the pattern captures only the first one. The second
// one must only have the right number of digits.
func (p *Pattern) field(out *strings.Builder, name, expression string) error {
	digits, date := dates[name]
	if date {
		expression = digits
	}
	if slices.Contains(p.fields, name) {
		if !date {
			return fmt.Errorf("has the field {%s} twice", name)
		}
		fmt.Fprintf(out, `(?:%s)`, expression)
		return nil
	}
	p.fields = append(p.fields, name)
	fmt.Fprintf(out, `(%s)`, expression)
	return nil
}

// Fields returns the names of the fields in the order of the pattern.
func (p *Pattern) Fields() []string { return p.fields }

// Match returns the fields in a text, or false if the pattern does not match the text.
func (p *Pattern) Match(text string) (map[string]string, bool) {
	found := p.expression.FindStringSubmatch(text)
	if found == nil {
		return nil, false
	}
	fields := make(map[string]string, len(p.fields))
	for i, name := range p.fields {
		fields[name] = found[i+1]
	}
	return fields, true
}
