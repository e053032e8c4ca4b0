// Package pattern matches texts such as names of files with patterns that capture fields:
// "location-{location}-{yyyy}{mm}{dd}.csv.gz".
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Pattern matches whole texts. A * stands for any characters, and {field} for one or more
// characters, which it captures. It is immutable.
type Pattern struct {
	expression *regexp.Regexp
	fields     []string
}

// Limits of a pattern. A text is matched in a time that is linear in its length.
const (
	mostBytes  = 500
	mostFields = 20
)

// dates are the fields of a date with their digits.
var dates = map[string]string{"yyyy": `\d{4}`, "mm": `\d{2}`, "dd": `\d{2}`, "HH": `\d{2}`}

// Dates are the fields of a date, from the largest unit to the smallest.
var Dates = []string{"yyyy", "mm", "dd", "HH"}

var fieldName = regexp.MustCompile(`^[a-z][a-z0-9_]*$|^HH$`)

// Text returns the pattern of any text. Of several fields, the first takes as much as possible.
func Text(text string) (*Pattern, error) { return compile(text, ".+", ".*") }

// Path returns the pattern of a path with slashes. Neither * nor a field matches a slash,
// and **/ stands for any number of folders. A pattern without a slash matches the last
// part of a path.
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

// field writes the expression of a field. The second {yyyy} of a path needs no name: both
// are equal in practice, and the first counts.
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

// Match returns the fields of a text, or false if the pattern does not match it.
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
