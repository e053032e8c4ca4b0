// Package mapping turns replies of an API into stations and readings, as a description
// file (YAML) defines. It does no I/O and reads no clock.
package mapping

import (
	"strings"

	"github.com/tidwall/gjson"

	"vayu/internal/config/section"
)

// scope is the part of a reply in which a path begins.
type scope uint8

const (
	ofRecord scope = iota // a record: the default
	ofEach                // an element of the list `each` of a record
	ofReply               // the whole reply
	ofPart                // the fields of the partition
	ofListed              // the fields of the station in the station list
	ofKey                 // the key of a record in a map
)

// scopes maps first words of paths to scopes. Other paths, except key, begin in the record.
var scopes = map[string]scope{"record": ofRecord, "each": ofEach, "reply": ofReply, "part": ofPart, "listed": ofListed}

// path is the position of a field. Its syntax is that of gjson, as in the
// descriptions of operators and banks.
type path struct {
	scope scope
	text  string // without the scope
	full  string // as in the description, for errors
}

// longestPath is the limit of a path in bytes.
const longestPath = 200

// parsePath parses a path, such as "value", "period.datetimeTo.utc" or "each.value".
func parsePath(text string) path {
	if text == "key" {
		return path{scope: ofKey, full: text}
	}
	if first, rest, found := strings.Cut(text, "."); found {
		if s, known := scopes[first]; known {
			return path{s, rest, text}
		}
	}
	return path{ofRecord, text, text}
}

// readPaths reads a path or a list of alternatives.
func readPaths(s *section.Section, key string) []path {
	var all []path
	for _, e := range s.List(key) {
		checkPath(s, key, e.Text)
		all = append(all, parsePath(e.Text))
	}
	return all
}

func checkPath(s *section.Section, key, text string) {
	if text == "" || len(text) > longestPath || strings.ContainsAny(text, "\n\r\x00") {
		s.Faultf(key, "must be the path of a field, such as period.datetimeTo.utc")
	}
}

// Frame is a record of a reply, with everything that paths can refer to.
type Frame struct {
	record, each, reply gjson.Result
	part, listed        map[string]string
	key                 string

	columns map[string]int // of a table; nil for other shapes
	cells   []gjson.Result
}

// find returns the value of a path. The value's method Exists returns false if the field
// is missing.
func (f *Frame) find(p path) gjson.Result {
	switch p.scope {
	case ofEach:
		return f.each.Get(p.text)
	case ofReply:
		return f.reply.Get(p.text)
	case ofPart:
		return fieldOf(f.part, p.text)
	case ofListed:
		return fieldOf(f.listed, p.text)
	case ofKey:
		return gjson.Result{Type: gjson.String, Str: f.key, Raw: f.key}
	case ofRecord:
	}
	if f.columns == nil {
		return f.record.Get(p.text)
	}
	if i, known := f.columns[p.text]; known && i < len(f.cells) {
		return f.cells[i]
	}
	return gjson.Result{}
}

func fieldOf(fields map[string]string, name string) gjson.Result {
	text, known := fields[name]
	if !known {
		return gjson.Result{}
	}
	return gjson.Result{Type: gjson.String, Str: text, Raw: text}
}

// text returns the value of the first path that has one, as text. Numbers keep their
// form. seen is false if none of the fields exists; a field that is null is seen and
// has the text "".
func (f *Frame) text(paths []path) (text string, seen bool) {
	for _, p := range paths {
		v := f.find(p)
		if !v.Exists() {
			continue
		}
		seen = true
		if text := scalar(v); text != "" {
			return text, true
		}
	}
	return "", seen
}

// scalar returns the text of a value; "" for null.
func scalar(v gjson.Result) string {
	switch v.Type {
	case gjson.Null:
		return ""
	case gjson.String:
		return v.Str
	default:
		return v.Raw
	}
}
