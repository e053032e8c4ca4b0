package httpconnector

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// Reply is an answer that was understood.
type Reply struct {
	// HTTP is its status.
	HTTP int
	// Fields are what the description finds in it, as text: numbers as they are
	// written, true and false. What is absent or null is not in it.
	Fields map[string]string
	// Lists are those of which there may be several, each value once.
	Lists map[string][]string
	// Items are the fields of each item, of a call that asks for a list.
	Items []map[string]string
}

// What an answer can lack. Its own words are in neither of these errors.
var (
	errNoJSON = errors.New("the answer is no JSON, or holds a name twice")
	errNoList = errors.New("the answer holds no list where the description says")
	bom       = []byte("\xef\xbb\xbf")
)

// unmappedError is a field that an answer must have and has not, or has with a word
// that the description does not know.
type unmappedError struct {
	field string
	value string // the upstream's; empty for none
}

func (e *unmappedError) Error() string {
	if e.value == "" {
		return fmt.Sprintf("the answer has no %s where the description says", e.field)
	}
	return fmt.Sprintf("the answer has %s as %s, which the description does not map", quoteForLog(e.value), e.field)
}

// longestQuoted is how many characters of a word are shown: a status has some twenty.
const longestQuoted = 40

// quoteForLog is a word of the upstream as whoever mends the description must see it. What
// cannot be printed, and could move or hide the text around it, is replaced.
func quoteForLog(word string) string {
	word = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, word)
	if runes := []rune(word); len(runes) > longestQuoted {
		word = string(runes[:longestQuoted-1]) + "…"
	}
	return strconv.Quote(word)
}

// accepts says whether answers with a status are read at all.
func (r *answerReader) accepts(status int) bool {
	return slices.Contains(r.ok, status) || r.byHTTP[status] != nil
}

// read reads an answer with a status that the reading takes.
func (r *answerReader) read(status int, body []byte) (Reply, error) {
	reply := Reply{HTTP: status}
	body = bytes.TrimPrefix(body, bom) // as .NET writes it
	// A name that stands twice is read differently by everybody, so that nobody
	// knows what was said.
	isJSON := jsontext.Value(body).IsValid()
	if !isJSON && !slices.Contains(r.bare, status) {
		return reply, errNoJSON
	}
	var doc gjson.Result
	if isJSON {
		doc = gjson.ParseBytes(body)
	}
	var err error
	if r.items == "" {
		reply.Fields, err = r.readFields(doc, r.byHTTP[status])
		reply.Lists = r.readLists(doc)
		return reply, err
	}
	if by := r.byHTTP[status]; by != nil {
		reply.Fields = maps.Clone(by)
		return reply, nil
	}
	list := doc.Get(r.items)
	if !list.IsArray() {
		return reply, errNoList
	}
	list.ForEach(func(_, item gjson.Result) bool {
		var fields map[string]string
		fields, err = r.readFields(item, nil)
		reply.Items = append(reply.Items, fields)
		return err == nil
	})
	return reply, err
}

// readFields reads the fields of an answer or of an item.
func (r *answerReader) readFields(doc gjson.Result, decided map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(r.fields))
	for _, f := range r.fields {
		if f.many {
			continue
		}
		word, there := scalar(doc, f.path)
		if value, ok := f.translate(word, there); ok {
			out[f.name] = value
		} else if f.absent != "" && isAbsent(doc, f.path) {
			out[f.name] = f.absent
		}
	}
	maps.Copy(out, decided)
	for _, f := range r.fields {
		if _, there := out[f.name]; !there && f.isRequired(out) {
			word, _ := scalar(doc, f.path)
			return out, &unmappedError{f.name, word}
		}
	}
	return out, nil
}

// isRequired says whether an answer with these fields must have this one.
func (f *field) isRequired(fields map[string]string) bool {
	for name, value := range f.requiredWith {
		if fields[name] == value {
			return true
		}
	}
	return f.required
}

// readLists reads the fields of which there may be several.
func (r *answerReader) readLists(doc gjson.Result) map[string][]string {
	var out map[string][]string
	for _, f := range r.fields {
		if !f.many || isAbsent(doc, f.path) {
			continue
		}
		if out == nil {
			out = map[string][]string{}
		}
		all := []gjson.Result{doc.Get(f.path)}
		if all[0].IsArray() {
			all = all[0].Array()
		}
		for _, v := range all {
			word, isWord := text(v)
			if !isWord && (v.Type == gjson.Null || v.Type == gjson.String) {
				continue // nothing
			}
			if value, ok := f.translate(word, true); ok && !slices.Contains(out[f.name], value) {
				out[f.name] = append(out[f.name], value)
			}
		}
	}
	return out
}

// translate maps a word of the upstream.
func (f *field) translate(word string, there bool) (string, bool) {
	if !there {
		return "", false
	}
	value, known := f.mapping[word]
	switch {
	case known:
		return value, true
	case f.closed && f.fallback == "":
		return "", false
	case f.closed:
		return f.fallback, true
	}
	return word, true
}

// scalar is the text of a single value of a document. The empty text is none.
func scalar(doc gjson.Result, path string) (string, bool) {
	if path == "" || !doc.Exists() {
		return "", false
	}
	return text(doc.Get(path))
}

// isAbsent says whether a document has nothing at a place: no value, null or the
// empty text. A list or an object is something.
func isAbsent(doc gjson.Result, path string) bool {
	if path == "" || !doc.Exists() {
		return true
	}
	v := doc.Get(path)
	return v.Type == gjson.Null || v.Type == gjson.String && v.Str == ""
}

// text is that of a single value.
func text(v gjson.Result) (string, bool) {
	switch v.Type {
	case gjson.String:
		return v.Str, v.Str != ""
	case gjson.Number:
		return v.Raw, v.Raw != ""
	case gjson.True, gjson.False:
		return v.Raw, true
	}
	return "", false
}
