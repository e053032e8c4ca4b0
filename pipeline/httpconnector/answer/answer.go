// Package answer reads a provider's replies and callbacks, as a description file defines.
package answer

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

// Reply is a provider's reply or callback, with the names and values of the description file.
type Reply struct {
	// HTTP is the HTTP status of the reply; 200 for a callback.
	HTTP int
	// Fields are the fields by their names in the description file, as text. Numbers keep their form, such as 1.50. A
	// field without a value is not in the map, unless the description or the HTTP status defines a value for it.
	Fields map[string]string
	// Lists has the values, without duplicates, of each field that may have several.
	Lists map[string][]string
	// Items are the fields of each item in a list, if the call returns a list.
	Items []map[string]string
}

// These are errors about answers. Their texts quote nothing from the provider.
var (
	errNoJSON = errors.New("the answer is not JSON, or has a duplicate name")
	errNoList = errors.New("the answer has no list at the path of items")
	bom       = []byte("\xef\xbb\xbf")
)

// UnmappedError means that a required field is missing, or that its value is not mapped.
type UnmappedError struct {
	field string
	value string // the provider's value; empty for none
}

// Error returns a text that quotes the value, shortened and without unprintable characters.
func (e *UnmappedError) Error() string {
	if e.value == "" {
		return fmt.Sprintf("the answer has no %s at the path of the description", e.field)
	}
	return fmt.Sprintf("the answer has %s as %s, which the description does not map", quoteForLog(e.value), e.field)
}

// longestQuoted is the maximum number of characters that are quoted from a value. A usual status has about twenty
// characters.
const longestQuoted = 40

// quoteForLog quotes a provider's value for the author of the description file. It replaces
// unprintable characters, which could move or hide the text around them.
func quoteForLog(value string) string {
	value = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, value)
	if runes := []rune(value); len(runes) > longestQuoted {
		value = string(runes[:longestQuoted-1]) + "…"
	}
	return strconv.Quote(value)
}

// Accepts reports whether the description defines how to read answers with this HTTP status.
func (r *Reader) Accepts(status int) bool {
	return slices.Contains(r.ok, status) || r.byHTTP[status] != nil
}

// Read reads an answer with an accepted status. The error is *UnmappedError for a required field
// that is missing or unmapped.
func (r *Reader) Read(status int, body []byte) (Reply, error) {
	reply := Reply{HTTP: status}
	body = bytes.TrimPrefix(body, bom) // servers in .NET write a byte order mark
	// JSON with duplicate names is rejected, because parsers disagree about which of the values counts.
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

// readFields reads the fields of an answer or one item. Values in `decided`, set by the HTTP status, take precedence.
func (r *Reader) readFields(doc gjson.Result, decided map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(r.fields))
	for _, f := range r.fields {
		if f.many {
			continue
		}
		raw, there := scalar(doc, f.path)
		if value, ok := f.translate(raw, there); ok {
			out[f.name] = value
		} else if f.absent != "" && isAbsent(doc, f.path) {
			out[f.name] = f.absent
		}
	}
	maps.Copy(out, decided)
	for _, f := range r.fields {
		if _, there := out[f.name]; !there && f.isRequired(out) {
			raw, _ := scalar(doc, f.path)
			return out, &UnmappedError{f.name, raw}
		}
	}
	return out, nil
}

// isRequired reports whether an answer with these fields must have the field f too.
func (f *field) isRequired(fields map[string]string) bool {
	for name, value := range f.requiredWith {
		if fields[name] == value {
			return true
		}
	}
	return f.required
}

// readLists reads the fields that may have several values (see FieldShape.Repeated).
func (r *Reader) readLists(doc gjson.Result) map[string][]string {
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
			raw, isText := text(v)
			if !isText && (v.Type == gjson.Null || v.Type == gjson.String) {
				continue // empty
			}
			if value, ok := f.translate(raw, true); ok && !slices.Contains(out[f.name], value) {
				out[f.name] = append(out[f.name], value)
			}
		}
	}
	return out
}

// translate maps `raw`, a value of the provider, to one of our values. A closed field has a fixed set of values, so its
// fallback replaces an unmapped value. Any other field keeps an unmapped value. translate returns false if `raw` is
// absent, or if it is unmapped in a closed field without a fallback.
func (f *field) translate(raw string, there bool) (string, bool) {
	if !there {
		return "", false
	}
	value, known := f.mapping[raw]
	switch {
	case known:
		return value, true
	case f.closed && f.fallback == "":
		return "", false
	case f.closed:
		return f.fallback, true
	}
	return raw, true
}

// scalar returns the text of the single value at a path; false if the value is missing, empty, a list or an object.
func scalar(doc gjson.Result, path string) (string, bool) {
	if path == "" || !doc.Exists() {
		return "", false
	}
	return text(doc.Get(path))
}

// isAbsent reports whether a document has no value at a path. Null and the empty text count as absent, but a list or an
// object does not.
func isAbsent(doc gjson.Result, path string) bool {
	if path == "" || !doc.Exists() {
		return true
	}
	v := doc.Get(path)
	return v.Type == gjson.Null || v.Type == gjson.String && v.Str == ""
}

// text returns a single value as text; false for null, the empty text, a list or an object.
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

// ErrOtherReference means that an answer is about another order than the request.
var ErrOtherReference = errors.New("the answer is about another reference")

// CheckEcho checks the field `field`, which repeats the value `sent` of the request. It returns ErrOtherReference if
// the answer has another value: on a reused connection, the answer may belong to an earlier request.
func (r Reply) CheckEcho(field, sent string) error {
	if echo, ok := r.Fields[field]; ok && echo != sent {
		return ErrOtherReference
	}
	return nil
}

// Shape defines the fields that an answer of a provider can have, by name.
type Shape map[string]FieldShape

// FieldShape defines one field of an answer.
type FieldShape struct {
	// Required means that an answer without the field is an error.
	Required bool
	// PathRequired means that the description must have the path, though answers may lack the field.
	PathRequired bool
	// Values are our values, to which the provider's values are mapped; nil for any text.
	Values []string
	// Defaults are the elements of Values that the description may choose as the value for unmapped values.
	Defaults []string
	// RequiredWith maps names of other fields to values. If an answer has one of those fields with the value from the
	// map, the answer must also have this field.
	RequiredWith map[string]string
	// Absent are the elements of Values that the description may choose for answers without the
	// field. If the description chooses one, it may omit the path.
	Absent []string
	// Repeated allows a list of values as well as a single value. [Reply.Lists] has the values.
	Repeated bool
	// Fallback replaces each unmapped value of a Repeated field, unless the description sets a default.
	Fallback string
}
