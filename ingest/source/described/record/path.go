// Package record reads the records in replies and files, and returns the values at paths in them. A description (YAML)
// defines whether they are JSON, JSON in lines, or a table of text.
package record

import (
	"strings"

	"github.com/tidwall/gjson"

	"vayu/internal/config/section"
)

// scope is the part of a reply at which a path begins.
type scope uint8

const (
	ofRecord  scope = iota // a record; the default
	ofEach                 // an element of the list `each` of a record
	ofReply                // the whole reply
	ofPart                 // the fields of the partition, or those in the topic of a message
	ofListed               // the fields of the station in the station list
	ofKey                  // the key of a record in a map
	ofFile                 // the fields in the name of the file
	ofExtract              // fields that an Extract has extracted from a text
)

// scopes maps the first word of a path to its scope. A path with any other first word begins in the record. The path
// "key" is an exception: it is the key of the record in a map.
var scopes = map[string]scope{
	"record": ofRecord, "each": ofEach, "reply": ofReply, "part": ofPart, "topic": ofPart, "listed": ofListed, "file": ofFile,
	"extract": ofExtract,
}

// Path is the position of a field. Its syntax is that of the package gjson.
type Path struct {
	scope  scope
	text   string // the path without the scope
	column string // the text in lower case, as the name of a column
	full   string // the path as the description has it, for errors
}

// longestPath is the largest length of a path in bytes.
const longestPath = 200

// ParsePath parses a path, such as "value", "period.datetimeTo.utc" or "each.value". A name that contains dots is
// quoted: PMS5003."PM2.5".
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

// unquote converts quoted names to the syntax of gjson, in which special characters follow a backslash. It does not
// change a path with an odd number of quotes.
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

// Column returns the path of a column with the given name in a table.
func Column(name string) Path { return Path{text: name, column: columnName(name), full: name} }

// String returns the path in the spelling of the description.
func (p Path) String() string { return p.full }

// InEach reports whether the path begins in an element of the list `each` of a record.
func (p Path) InEach() bool { return p.scope == ofEach }

// Extracted returns the name of the extracted field to which the path refers. `ok` is false if the path refers to
// another kind of field.
func (p Path) Extracted() (name string, ok bool) { return p.text, p.scope == ofExtract }

// Missing reports whether the path refers to a column that is not among the columns of a table.
func (p Path) Missing(columns map[string]int) bool {
	_, known := columns[p.column]
	return p.scope == ofRecord && !known
}

// columnName returns the normalised name of a column. Upper and lower case, and spaces around a name, do not matter.
func columnName(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// columnsOf returns the index of each column by its normalised name. If two columns have the same name, it returns the
// index of the first one.
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

// ReadPaths reads a key whose value is a path or a list of alternative paths.
func ReadPaths(s *section.Section, key string) []Path {
	var all []Path
	for _, e := range s.List(key) {
		CheckPath(s, key, e.Text)
		all = append(all, ParsePath(e.Text))
	}
	return all
}

// CheckPath adds a fault of the key if text is not a valid path.
func CheckPath(s *section.Section, key, text string) {
	if text == "" || len(text) > longestPath || strings.ContainsAny(text, "\n\r\x00") {
		s.Faultf(key, "must be the path of a field, such as period.datetimeTo.utc")
	}
}

// Frame is a record of a reply or a file, with all data to which paths can refer.
type Frame struct {
	// Part has the fields of the partition. Listed has the fields of the station in the station list. File has the
	// fields in the name of the file.
	Part, Listed, File map[string]string
	// Extracts extracts fields from texts. It is nil if the description defines no such fields.
	Extracts *Extracts
	// Bad is true for a line that is not a record. Such a frame has no values.
	Bad bool

	record, each, reply gjson.Result
	key                 string

	columns map[string]int // columns of a table; nil for other shapes
	cells   []gjson.Result // cells of a table in JSON
	texts   []string       // cells of a table of text; nil for JSON
	decimal byte           // decimal sign in texts
	header  []string       // columns of a table of text; nil after TakeHeader

	describe func() (number int64, text string) // number and text of the record; nil for JSON
}

// find returns the value at a path. If the field is missing, the method Exists of the result returns false.
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

// inRecord returns the value at a path in a JSON record.
func (f *Frame) inRecord(p Path) gjson.Result {
	if f.columns == nil {
		return f.record.Get(p.text)
	}
	if i, known := f.columns[p.column]; known && i < len(f.cells) {
		return f.cells[i]
	}
	return gjson.Result{}
}

// Value returns the value at a path as text. A number stays as it is written, and null becomes "".
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

// Text returns the first non-empty value at one of the paths, as text, or "" if there is none. Numbers stay as they are
// written. `seen` is true if at least one of the fields exists, even if it is null.
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

// Number returns a number with a dot as its decimal sign.
func (f *Frame) Number(text string) string {
	if f.decimal == ',' {
		// With a decimal comma, a dot separates thousands: "1.234" means 1234. The result "1,234" is rejected as an
		// invalid number, while the unchanged text would be read as 1.234.
		return commas.Replace(text)
	}
	return text
}

var commas = strings.NewReplacer(",", ".", ".", ",")

// scalar returns the text of a value, or "" for null.
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

// TextOf returns the first non-empty value at one of the paths in a JSON text, or "" if there is none.
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

// TakeHeader returns the columns of a table of text in the first call for the table, and nil in later calls.
func (f *Frame) TakeHeader() (names []string) {
	names, f.header = f.header, nil
	return names
}

// Columns returns the indexes of the columns of a table, by their names in lower case.
func (f *Frame) Columns() map[string]int { return f.columns }
