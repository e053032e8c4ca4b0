// Package record reads the records of replies and files, as a description file (YAML)
// defines: JSON, JSON in lines, and tables of text. It gives the values of paths.
package record

import (
	"strings"

	"github.com/tidwall/gjson"

	"vayu/internal/config/section"
)

// scope is the part of a reply in which a path begins.
type scope uint8

const (
	ofRecord  scope = iota // a record: the default
	ofEach                 // an element of the list `each` of a record
	ofReply                // the whole reply
	ofPart                 // the fields of the partition, or of the topic of a message
	ofListed               // the fields of the station in the station list
	ofKey                  // the key of a record in a map
	ofFile                 // the fields of the file's name
	ofExtract              // parts of texts, see extract
)

// scopes maps first words of paths to scopes. Other paths, except key, begin in the record.
var scopes = map[string]scope{
	"record": ofRecord, "each": ofEach, "reply": ofReply, "part": ofPart, "topic": ofPart, "listed": ofListed, "file": ofFile,
	"extract": ofExtract,
}

// Path is the position of a field. Its syntax is that of gjson, as in the
// descriptions of operators and banks.
type Path struct {
	scope  scope
	text   string // without the scope
	column string // text as the name of a column: in lower case
	full   string // as in the description, for errors
}

// longestPath is the limit of a path in bytes.
const longestPath = 200

// ParsePath parses a path, such as "value", "period.datetimeTo.utc" or "each.value". A name
// with dots stands in quotes: PMS5003."PM2.5".
func ParsePath(text string) Path {
	if text == "key" {
		return Path{scope: ofKey, full: text}
	}
	if first, rest, found := strings.Cut(text, "."); found {
		if s, known := scopes[first]; known {
			return Path{s, unquote(rest), columnName(rest), text}
		}
	}
	return Path{ofRecord, unquote(text), columnName(text), text}
}

// unquote returns a path in the syntax of gjson, in which the special characters of the
// quoted parts have a backslash. A path with an odd number of quotes has none.
func unquote(text string) string {
	parts := strings.Split(text, `"`)
	if len(parts)%2 == 0 {
		return text
	}
	var out strings.Builder
	for i, part := range parts {
		for _, r := range part {
			if i%2 == 1 && strings.ContainsRune(`.|#@*?\!{}[]()=<>%,:`, r) {
				out.WriteByte('\\')
			}
			out.WriteRune(r)
		}
	}
	return out.String()
}

// Column returns the path of a column of a table.
func Column(name string) Path { return Path{text: name, column: columnName(name), full: name} }

// String returns the path as the description has it.
func (p Path) String() string { return p.full }

// InEach reports whether the path begins in an element of the list `each` of a record.
func (p Path) InEach() bool { return p.scope == ofEach }

// Extracted returns the field of `extract` that the path names.
func (p Path) Extracted() (name string, ok bool) { return p.text, p.scope == ofExtract }

// Missing reports whether the path is a column that a table lacks.
func (p Path) Missing(columns map[string]int) bool {
	_, known := columns[p.column]
	return p.scope == ofRecord && !known
}

// columnName returns the name of a column in the form in which names are compared.
func columnName(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// columnsOf returns the indexes of columns by their names. Of equal names the first counts.
func columnsOf(names []string) map[string]int {
	columns := make(map[string]int, len(names))
	for i, name := range names {
		if name = columnName(name); name == "" {
			continue
		}
		if _, taken := columns[name]; !taken {
			columns[name] = i
		}
	}
	return columns
}

// ReadPaths reads a path or a list of alternatives.
func ReadPaths(s *section.Section, key string) []Path {
	var all []Path
	for _, e := range s.List(key) {
		CheckPath(s, key, e.Text)
		all = append(all, ParsePath(e.Text))
	}
	return all
}

// CheckPath records a fault of a key if a text is no path.
func CheckPath(s *section.Section, key, text string) {
	if text == "" || len(text) > longestPath || strings.ContainsAny(text, "\n\r\x00") {
		s.Faultf(key, "must be the path of a field, such as period.datetimeTo.utc")
	}
}

// Frame is a record of a reply or a file, with everything that paths can refer to.
type Frame struct {
	// Part has the fields of the partition, Listed those of the station in the station list,
	// and File those of the file's name.
	Part, Listed, File map[string]string
	// Extracts are the parts of texts; nil for none.
	Extracts *Extracts
	// Bad marks a line that is no record. Such a frame has no values.
	Bad bool

	record, each, reply gjson.Result
	key                 string

	columns map[string]int // of a table; nil for other shapes
	cells   []gjson.Result // of a table in JSON
	texts   []string       // of a table in text; nil for a table in JSON
	decimal byte           // decimal sign of texts
	header  []string       // columns of a table in text; nil once TakeHeader has returned them

	describe func() (number int64, text string) // of the record; nil for JSON
}

// find returns the value of a path. The value's method Exists returns false if the field
// is missing.
func (f *Frame) find(p Path) gjson.Result {
	switch p.scope {
	case ofEach:
		return f.each.Get(p.text)
	case ofReply:
		return f.reply.Get(p.text)
	case ofRecord:
		if f.texts == nil {
			return f.inRecord(p)
		}
	default:
	}
	if text, exists := f.Value(p); exists {
		return gjson.Result{Type: gjson.String, Str: text, Raw: text}
	}
	return gjson.Result{}
}

// inRecord returns the value of a path in a record that is JSON.
func (f *Frame) inRecord(p Path) gjson.Result {
	if f.columns == nil {
		return f.record.Get(p.text)
	}
	if i, known := f.columns[p.column]; known && i < len(f.cells) {
		return f.cells[i]
	}
	return gjson.Result{}
}

// Value returns the value of a path as text. A number keeps its form, and null has the
// text "".
func (f *Frame) Value(p Path) (text string, exists bool) {
	switch p.scope {
	case ofPart:
		text, exists = f.Part[p.text]
	case ofListed:
		text, exists = f.Listed[p.text]
	case ofFile:
		text, exists = f.File[p.text]
	case ofExtract:
		text, exists = f.Extracts.field(f, p.text)
	case ofKey:
		text, exists = f.key, true
	case ofEach, ofReply, ofRecord:
		if p.scope == ofRecord && f.texts != nil {
			i, known := f.columns[p.column]
			if !known || i >= len(f.texts) {
				return "", false
			}
			return f.texts[i], true
		}
		v := f.find(p)
		return scalar(v), v.Exists()
	}
	return text, exists
}

// Text returns the value of the first path that has one, as text. Numbers keep their
// form. seen is false if none of the fields exists; a field that is null is seen and
// has the text "".
func (f *Frame) Text(paths []Path) (text string, seen bool) {
	for i := range paths {
		text, exists := f.Value(paths[i])
		seen = seen || exists
		if text != "" {
			return text, true
		}
	}
	return "", seen
}

// Number returns the text of a number with a dot as decimal sign.
func (f *Frame) Number(text string) string {
	if f.decimal == ',' {
		// With a decimal comma, a dot groups digits: 1.234 is not 1.234. The exchange makes
		// such a text invalid.
		return commas.Replace(text)
	}
	return text
}

var commas = strings.NewReplacer(",", ".", ".", ",")

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

// TextOf returns the value of the first path that has one in a JSON text; "" for none.
func TextOf(json []byte, paths []Path) string {
	f := Frame{record: gjson.ParseBytes(json)}
	text, _ := f.Text(paths)
	return text
}

// Describe returns the number and the text of the record. The number is 0 for JSON.
func (f *Frame) Describe() (number int64, text string) {
	if f.describe != nil {
		return f.describe()
	}
	return 0, f.record.Raw
}

// TakeHeader returns the columns of a table in text for its first record, else nil.
func (f *Frame) TakeHeader() (names []string) {
	names, f.header = f.header, nil
	return names
}

// Columns returns the indexes of the columns of a table by their names in lower case.
func (f *Frame) Columns() map[string]int { return f.columns }
