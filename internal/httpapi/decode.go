package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vayu/schema"
)

// maxDepth limits the nesting of objects and arrays in a body, and thus the memory of the decoder. Valid bodies nest
// less deeply.
const maxDepth = 32

// Decode strictly parses the body of a call as one JSON object. Names are case-sensitive and must be unique,
// strings are not accepted as numbers, text must be UTF-8, and nothing may follow the object. Unknown names are
// ignored, and null counts as absent. A missing body is an error. The error is a *schema.Problem.
func Decode[T any](c *Call) (T, error) {
	var v T
	if len(c.Body) == 0 {
		return v, schema.NewProblem(schema.InvalidRequest, "", "The body is missing. Send a JSON object.")
	}
	if err := wellFormed(c.Body); err != nil {
		return v, err
	}
	if err := json.Unmarshal(c.Body, &v); err != nil {
		var none T
		return none, misfit(err)
	}
	return v, nil
}

// DecodeOptional does the same as [Decode], for a call whose body may be absent. An absent body is equivalent to {}.
func DecodeOptional[T any](c *Call) (T, error) {
	if len(c.Body) == 0 {
		var v T
		return v, nil
	}
	return Decode[T](c)
}

// wellFormed checks that a body is one JSON object before any decoding. It needs little memory, because it builds
// no values and limits the nesting.
func wellFormed(body []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	kind := d.PeekKind()
	for {
		_, err := d.ReadToken()
		switch {
		case err != nil:
			return malformed(err, d.InputOffset())
		case d.StackDepth() > maxDepth:
			return schema.NewProblem(schema.InvalidJSON, "", fmt.Sprintf("The body nests deeper than %d levels.", maxDepth))
		case d.StackDepth() > 0:
			continue
		}
		break
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return schema.NewProblem(schema.InvalidJSON, "", "The body must end after its JSON object.")
	}
	if kind != jsontext.KindBeginObject {
		return schema.NewProblem(schema.InvalidRequest, "", "The body must be a JSON object.")
	}
	return nil
}

func malformed(err error, at int64) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = e.ByteOffset
		if errors.Is(err, jsontext.ErrDuplicateName) {
			field := dotted(e.JSONPointer)
			return schema.NewProblem(schema.InvalidJSON, field, "A name occurs twice in the same object, at byte "+strconv.FormatInt(at, 10)+".")
		}
	}
	return schema.NewProblem(schema.InvalidJSON, "", "The body is not valid JSON in UTF-8: see byte "+strconv.FormatInt(at, 10)+".")
}

// misfit returns the problem for an error of json.Unmarshal, such as a value of the wrong type.
func misfit(err error) error {
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return schema.NewProblem(schema.InvalidJSON, "", "The body cannot be read.")
	}
	field := dotted(e.JSONPointer)
	subject := "The body"
	if field != "" {
		subject = field
	}
	if errors.Is(err, strconv.ErrRange) {
		return schema.NewProblem(schema.InvalidRequest, field, subject+" is out of range.")
	}
	return schema.NewProblem(schema.InvalidRequest, field, subject+" must be "+jsonTypeOf(e.GoType)+".")
}

// jsonTypeOf describes the JSON value that a field of a Go type needs, such as "a whole number".
func jsonTypeOf(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "another type"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "another type"
	}
}

// maxField is the largest length of a field name in an error, in bytes. If a client sends a longer
// name, the error contains only the beginning of the name.
const maxField = 128

// dotted formats a JSON pointer as a field name in an error, such as recharges.3.amount.
func dotted(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	if b.Len() > maxField {
		return strings.ToValidUTF8(b.String()[:maxField], "")
	}
	return b.String()
}

// HasValue reports whether a field is present in a body. A field with null counts as absent.
func HasValue(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != jsontext.KindNull }

// Text returns the value of a JSON string. If v is not a valid JSON string, Text returns false and adds a fault to f.
func Text(f *schema.RequestErrors, field string, v jsontext.Value) (text string, ok bool) {
	if v.Kind() != jsontext.KindString {
		f.Add(field, field+" must be a string.")
		return "", false
	}
	raw, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		f.Add(field, "The "+field+" is not valid Unicode.")
		return "", false
	}
	return string(raw), true
}

// Ref returns the field ref_id (v), the client's reference for an order. If the field is absent or null, Ref returns
// "". If the field is invalid, Ref returns "" and adds a fault to f.
func Ref(f *schema.RequestErrors, v jsontext.Value) string {
	const field = "ref_id"
	if !HasValue(v) {
		return ""
	}
	text, ok := Text(f, field, v)
	if ok && !schema.IsRef(text) {
		f.Add(field, "The ref_id must have 1 to 255 characters and no control characters.")
		return ""
	}
	return text
}
